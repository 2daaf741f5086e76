/** The walk-throughs of docs/FAILURES.md, with real processes: a standby, a lost and an old data folder, another key. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import type { ClaimId } from "../../protocol/rules/types.ts";
import { fileCase, of } from "../support/cases.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { longTest } from "../support/long-test.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const ANSWER_SECONDS = 120;
const SOON = { timeout: 240_000, interval: 100 };
const RIVAL = ROLES.cheat;
let system: System;
let rival: Awaited<ReturnType<System["open"]>>;
/** Accounts from here on are used once each. */
let nextAccount = 8;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  rival = await system.open("rival", RIVAL);
});
afterAll(() => system?.stop());

/** A key and the name of its data folder. */
let index: number;
let name: string;
beforeEach(() => {
  index = nextAccount++;
  name = `prover-${index}`;
});

const startProver = async (args: readonly string[] = []): Promise<Daemon> => {
  const prover = system.daemon(name, index, ["prover", "--port", "0", ...args]);
  await prover.logged("prover is up");
  return prover;
};

async function kill({ pid, ended }: Daemon): Promise<void> {
  process.kill(pid as number, "SIGKILL");
  await ended;
}

/** A claim that this test's key made. */
const claimed = async () => (await fileCase(system, index)).claimed();
type Claimed = Awaited<ReturnType<typeof claimed>>;

const challenge = async ({ claim }: Claimed) =>
  expect((await rival.sender.send(new Actions(system.chain.game).challenge(claim))).status).toBe("sent");

/** Sender of the transaction that committed the claim's trace. */
async function whoAnswered(made: Claimed): Promise<Hex> {
  await system.events.until("TraceCommitted", of(made));
  const history = await historyOf(system.chain, made.claimId as ClaimId);
  const committed = history.find(({ name: kind }) => kind === "TraceCommitted");
  const { from } = await system.client.getTransaction({ hash: committed?.transactionHash as Hex });
  return from;
}

/** Whoever answers has done so, and nobody asks for more. */
async function standsUntilItsEnd(made: Claimed): Promise<void> {
  await system.events.until("TraceCommitted", of(made));
  await system.passTime(5 * ANSWER_SECONDS);
  await system.events.until("Finalized", ({ requestId }) => requestId === made.requestId);
  expect(system.events.all("Fell", of(made))).toEqual([]);
}

describe("walk-through: a standby", () => {
  test("default: the operator's daemon answers with its own key while the prover is dead", async () => {
    const standbyIndex = nextAccount++;
    const { address } = systemAccount(standbyIndex);
    const prover = await startProver(["--operator", address]);
    const standby = system.daemon("standby", standbyIndex, ["prover", "--port", "0", "--claims", "off"]);
    await standby.logged("prover is up");
    const made = await claimed();
    await kill(prover);
    await challenge(made);
    expect((await whoAnswered(made)).toLowerCase()).toBe(address.toLowerCase());
    await standsUntilItsEnd(made);
    await standby.stop();
  });
});

describe("walk-through: restore", () => {
  test("behavior: with an empty data folder it finds its claims on the chain and answers for them", async () => {
    const made = await claimedBy(await startProver());
    rmSync(join(system.folder, name), { recursive: true });
    const prover = await startProver();
    await challenge(made);
    await standsUntilItsEnd(made);
    await prover.stop();
  });

  longTest("behavior: with a copy from before the claim it does so as well", async () => {
    const first = await startProver();
    await first.stop();
    const [folder, copy] = [join(system.folder, name), join(system.folder, `${name}-copy`)];
    cpSync(folder, copy, { recursive: true });
    const made = await claimedBy(await startProver());
    rmSync(folder, { recursive: true });
    cpSync(copy, folder, { recursive: true });
    const prover = await startProver();
    await challenge(made);
    await standsUntilItsEnd(made);
    await prover.stop();
  });

  /** A claim of a prover that died right after it. */
  async function claimedBy(prover: Daemon) {
    const made = await claimed();
    await kill(prover);
    return made;
  }
});

describe("walk-through: another key", () => {
  test("default: the old key answers until its claims are over and sends its money on; the new one claims", async () => {
    const fresh = nextAccount++;
    const old = await startProver();
    const made = await claimed();
    await old.stop();
    const { address } = systemAccount(fresh);
    const terms = ["--withdraw-above", "0.001ether", "--sweep-to", address, "--sweep-above", "1ether"];
    const leaving = await startProver(["--claims", "off", ...terms]);
    const successor = system.daemon("successor", fresh, ["prover", "--port", "0"]);
    await successor.logged("prover is up");
    const { prover: claimant } = (await (await fileCase(system)).claimed()).claim;
    expect(claimant.toLowerCase()).toBe(address.toLowerCase());
    await challenge(made);
    await standsUntilItsEnd(made);
    const { url } = await leaving.logged("prover is up");
    const activeClaims = async () => (await fetchMetrics(String(url))).get("assay_prover_claims_active");
    await expect.poll(activeClaims, SOON).toBe(0);
    const left = () => system.client.getBalance({ address: systemAccount(index).address });
    await expect.poll(async () => (await left()) < 2n * 10n ** 18n, SOON).toBe(true);
    await Promise.all([leaving.stop(), successor.stop()]);
  });
});
