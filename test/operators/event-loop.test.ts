/** What daemons answer while a heavy model is cross-checked and disputed: requests that are served meanwhile are counted,
 *  for a threshold of time would measure the machine. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { type Logger, SILENT } from "../../base/log.ts";
import { runChallenger } from "../../challenger/main.ts";
import { falsify } from "../../cli/demo/dishonest/faults.ts";
import { openEngine } from "../../cli/engine.ts";
import { topsOf } from "../../inference/commit/reveal.ts";
import { execute } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import type { Canonical } from "../../inference/runtime/canonical-pool.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { FALL_REASONS, LANE } from "../../protocol/rules/types.ts";
import { runProver } from "../../prover/main.ts";
import { honestRuns } from "../../prover/runs.ts";
import { claimOutput } from "../support/claims.ts";
import { heavyCalldata, loadHeavyModel } from "../support/heavy-model.ts";
import { OPEN_HTTP } from "../support/open-http.ts";
import { ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const heavy = loadHeavyModel();
const prepared = prepare(heavy.model, heavy.selector);
const stopping = new AbortController();
const ends: Promise<unknown>[] = [];
/** Requests that both daemons have answered. */
let served = 0;
/** Runs of the canonical executor, and what was served from the beginning of each to its end. */
const runs: { readonly by: string; readonly task: string; readonly served: number }[] = [];
let system: System;

/** Notes each run. */
const noted = (by: string, canonical: Canonical): Canonical => {
  const count = async <T>(task: string, run: () => Promise<T>): Promise<T> => {
    const before = served;
    const result = await run();
    runs.push({ by, task, served: served - before });
    return result;
  };
  return {
    output: (...args) => count("output", () => canonical.output(...args)),
    check: (...args) => count("check", () => canonical.check(...args)),
    trace: (...args) => count("trace", () => canonical.trace(...args)),
  };
};

const servedDuring = (by: string, task: string): number =>
  Math.max(...runs.filter((run) => run.by === by && run.task === task).map((run) => run.served));

function listening(message: string): { readonly log: Logger; readonly url: Promise<string> } {
  let announce = (_url: string) => {};
  const url = new Promise<string>((resolve) => {
    announce = resolve;
  });
  const info = (fields: object, logged: string) => {
    if (logged === message) announce(String((fields as { url: unknown }).url));
  };
  return { log: { ...SILENT, info }, url };
}

/** Asks a daemon again and again, until all is over. */
async function keepAsking(url: string): Promise<void> {
  while (!stopping.signal.aborted) {
    try {
      await (await fetch(url, { signal: stopping.signal })).arrayBuffer();
      served += 1;
    } catch {
      // The server may end an idle connection just as it is asked again; a daemon that never answers has served nothing.
    }
  }
}

beforeAll(async () => {
  system = await startSystem({ models: [], answerSeconds: 300 });
  const { chain, sender } = await system.open("registrar", ROLES.cheat);
  const identity = {
    ...heavy.commitment,
    selector: heavy.selector,
    lanes: LANE.BOND,
    vkHash: new Uint8Array(32),
  };
  await registerModel(chain, sender, encodeProgram(heavy.model.program), identity);
  const engine = await openEngine([heavy], 1, SILENT);
  const common = { models: [heavy], width: 4, pollIntervalMs: 50, confirmations: 0, maxFee: 10n ** 12n };
  const [prover, challenger] = [listening("prover is up"), listening("challenger is up")];
  const proving = noted("prover", engine.canonical);
  ends.push(
    runProver(
      {
        ...common,
        log: prover.log,
        chain: await system.chainOf(systemAccount(ROLES.prover)),
        engine,
        canonical: proving,
        runs: honestRuns({ engine, canonical: proving, log: SILENT }),
        data: join(system.folder, "prover"),
        policy: {
          marginPercent: 0,
          maxBonds: 10n ** 24n,
          maxBond: 10n ** 24n,
          endingBudget: 0n,
          maxWindow: 86_400,
        },
        claims: true,
        withdrawAbove: 10n ** 24n,
        http: OPEN_HTTP,
      },
      stopping.signal,
    ),
    runChallenger(
      {
        ...common,
        log: challenger.log,
        mode: "defend",
        chain: await system.chainOf(systemAccount(ROLES.challenger)),
        fast: engine,
        canonical: noted("challenger", engine.canonical),
        data: join(system.folder, "challenger"),
        limits: {
          maxExposure: 10n ** 24n,
          endingBudget: 0n,
          withdrawAbove: 10n ** 24n,
        },
        http: OPEN_HTTP,
      },
      stopping.signal,
    ),
  );
  void Promise.allSettled(ends).then(() => engine.close());
  const urls = await Promise.all([prover.url, challenger.url]);
  ends.push(keepAsking(`${urls[0]}/healthz`), keepAsking(`${urls[1]}/metrics`));
});

afterAll(async () => {
  stopping.abort();
  await Promise.all(ends);
  await system.stop();
});

describe("daemons with a heavy model", () => {
  test("behavior: a prover answers while it cross-checks a claim, and while it makes the trace of a disputed one", async () => {
    const prover = systemAccount(ROLES.prover).address;
    const { requestId } = await system.ask({ model: heavy, calldata: heavyCalldata(1), prover });
    const { claim, claimId } = await system.events.until("Claimed", (event) => event.requestId === requestId);
    const doubter = await system.open("doubter", ROLES.cheat + 1);
    await doubter.sender.send(new Actions(doubter.chain.game).challenge(claim));
    await system.events.until("TraceCommitted", (event) => event.claimId === claimId);
    expect(servedDuring("prover", "output")).toBeGreaterThan(0);
    expect(servedDuring("prover", "trace")).toBeGreaterThan(0);
  });

  test("behavior: a challenger answers while it checks a wrong claim, and while it makes its own trace", async () => {
    const calldata = heavyCalldata(2);
    const { output, trace } = falsify(prepared, calldata, { kind: "output" });
    const cheat = await system.open("cheat", ROLES.cheat + 2);
    const { address } = systemAccount(ROLES.cheat + 2);
    const { request, requestId } = await system.ask({ model: heavy, calldata, prover: address });
    await claimOutput(cheat.chain, cheat.sender, request, toHex(output));
    const { claim, claimId } = await system.events.until("Claimed", (event) => event.requestId === requestId);
    await system.events.until("Challenged", (event) => event.claimId === claimId);
    await cheat.sender.send(new Actions(cheat.chain.game).commitTrace(claim, topsOf(trace).map(toHex)));
    const fell = await system.events.until("Fell", (event) => event.claimId === claimId);
    expect(FALL_REASONS[fell.reason]).toBe("OUTPUT");
    expect(servedDuring("challenger", "check")).toBeGreaterThan(0);
    expect(servedDuring("challenger", "trace")).toBeGreaterThan(0);
  });

  test("behavior: on the daemons' own thread the same run lets nothing through", async () => {
    const plain = noted("plain", {
      output: async (_model, calldata) => execute(prepared, calldata),
      check: () => Promise.reject(new Error("not asked for")),
      trace: () => Promise.reject(new Error("not asked for")),
    });
    await plain.output(heavy.modelId, heavyCalldata(3));
    expect(servedDuring("plain", "output")).toBe(0);
  });
});
