/** `assay request --wait` while the chain changes its mind. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { EventOf } from "../../protocol/chain/events.ts";
import { runAssay } from "../support/assay.ts";
import { eventWithBlock, takeBack } from "../support/reorg.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const ANSWER_SECONDS = 120;
let system: System;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
});
afterAll(() => system?.stop());

const request = (account: number, ...args: readonly string[]) =>
  runAssay(["request", "sentiment", "--text", "Shares rose.", "--wait", "--json", ...args], {
    ASSAY_RPC_URL: system.rpcUrl,
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_DATA: join(system.folder, `request-${account}`),
    ASSAY_KEY: keyOf(account),
    ASSAY_POLL_INTERVAL_MS: "100",
  });
const isBy =
  (account: number) =>
  ({ request }: EventOf<"Requested">["args"]): boolean =>
    request.requester === systemAccount(account).address;

describe("assay request --wait", () => {
  test("behavior: a request that a re-org drops is sent again, as the same request", async () => {
    const asking = request(ROLES.cheat, "--timeout", "200");
    const first = await eventWithBlock(system, "Requested", isBy(ROLES.cheat));
    await takeBack(system, first);
    const again = await Promise.race([
      eventWithBlock(system, "Requested", isBy(ROLES.cheat)),
      asking.then(({ code, stderr }) => {
        throw new Error(`The command ended with ${code} before the request came again: ${stderr}`);
      }),
    ]);
    expect(again.args.requestId).toBe(first.args.requestId);
    expect(again.block.hash).not.toBe(first.block.hash);
    const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]);
    await system.events.until("Claimed", ({ requestId }) => requestId === first.args.requestId);
    await system.passTime(4 * ANSWER_SECONDS);
    const { code, stdout } = await asking;
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { requestId: first.args.requestId, result: { lane: "BOND" } },
    ]);
    await prover.stop();
  });

  test("error: --timeout ends the wait and names the request", async () => {
    const { code, stderr } = await request(ROLES.cheat + 1, "--timeout", "10");
    const { args } = await eventWithBlock(system, "Requested", isBy(ROLES.cheat + 1));
    expect([code, stderr]).toEqual([3, expect.stringContaining("NOT_FINAL")]);
    expect(stderr).toContain(args.requestId);
  });

  test("error: --timeout without --wait", async () => {
    const { code, stderr } = await runAssay(["request", "sentiment", "--text", "a", "--timeout", "4"], {
      ASSAY_RPC_URL: system.rpcUrl,
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining("--wait")]);
  });
});
