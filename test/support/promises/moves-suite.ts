/** What tests of a challenger's moves share: a chain, and wrong promises on it. */
import { afterAll, afterEach, beforeAll } from "vitest";
import { type LocalChain, startLocalChain } from "../anvil.ts";
import { ETHER, type PromiseChallenger } from "./promise-challenger.ts";
import { beginWrongPromises, WRONG } from "./wrong-promises.ts";

/** How the promises ended that a challenger reported, in order. */
export const endings = ({ notices }: Pick<PromiseChallenger, "notices">) =>
  notices.flatMap((notice) => (notice.kind === "promise-over" ? [notice.ending] : []));

/** Registers the hooks of a test file. */
export function movesSuite() {
  let local: LocalChain;
  let open: PromiseChallenger | undefined;
  beforeAll(async () => {
    local = await startLocalChain();
  });
  afterEach(async () => {
    await open?.close();
    open = undefined;
  });
  afterAll(() => local?.stop());

  /** As `beginWrongPromises`, closed after the test. */
  async function begin(stake: bigint, limits = {}) {
    const game = await beginWrongPromises(local, stake, limits);
    open = game.challenger;
    return game;
  }

  /** wei */
  async function probe(
    bondOf: (game: Awaited<ReturnType<typeof begin>>) => Promise<{ readonly bond: bigint }>,
  ) {
    const game = await begin(10n * ETHER);
    const { bond } = await bondOf(game);
    await game.close();
    open = undefined;
    return bond;
  }

  return {
    get local() {
      return local;
    },
    begin,
    bondOfOne: () => probe(async ({ reader, sign }) => reader.check(await sign(1, { output: WRONG }))),
    bondOfLeaf: () => probe(async ({ reader, post }) => reader.leafBonds((await post(2, [1])).batch)),
  };
}
