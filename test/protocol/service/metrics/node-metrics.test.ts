import { describe, expect, test } from "vitest";
import { ChainClock } from "../../../../protocol/service/metrics/chain-clock.ts";
import { Metrics } from "../../../../protocol/service/metrics/metrics.ts";
import { addNodeMetrics } from "../../../../protocol/service/metrics/node-metrics.ts";
import { NodePulse } from "../../../../protocol/service/metrics/node-pulse.ts";
import { accountAt } from "../../../support/anvil.ts";
import { parseExposition } from "../../../support/exposition.ts";

const head = (number: bigint, timestamp: number) =>
  ({ number, timestamp, hash: `0x${number.toString(16).padStart(64, "0")}` }) as const;

describe("ChainClock", () => {
  test("default: goes on by the local clock's pace, whatever hour that shows", () => {
    let nowMs = 5_000_000;
    const clock = new ChainClock(() => nowMs);
    expect([clock.now, clock.differenceSeconds, clock.idleSeconds]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    clock.see(head(1n, 8_600));
    nowMs += 2_500;
    expect([clock.now, clock.differenceSeconds, clock.idleSeconds]).toEqual([8_602.5, -3_600, 2.5]);
    clock.see(head(1n, 8_600));
    expect(clock.idleSeconds).toBe(2.5);
    clock.see(head(2n, 8_603));
    expect([clock.now, clock.idleSeconds, clock.head?.number]).toEqual([8_603, 0, 2n]);
  });
});

describe("addNodeMetrics", () => {
  const account = accountAt(1).address;
  function setUp(getBlockNumber: () => Promise<bigint>) {
    const metrics = new Metrics();
    let nowMs = 100_000;
    const clock = new ChainClock(() => 100_000);
    const client = { getBlockNumber, getBalance: async () => 7n };
    const pulse = new NodePulse({ client, account, everyMs: 10, nowMs: () => nowMs });
    addNodeMetrics(metrics, { pulse, clock, nowMs: () => nowMs, unmined: () => 2 });
    const read = async () => Object.fromEntries(parseExposition(await metrics.render()));
    const later = (ms: number) => {
      nowMs += ms;
    };
    return { clock, read, pulse, later };
  }

  test("default: lag, clock and account", async () => {
    const { clock, read, pulse } = setUp(async () => 12n);
    clock.see(head(9n, 90));
    await pulse.beat();
    expect(await read()).toEqual({
      assay_rpc_up: 1,
      assay_rpc_silent_seconds: 0,
      assay_chain_head_block: 12,
      assay_chain_lag_blocks: 3,
      assay_account_balance_wei: 7,
      assay_followed_block: 9,
      assay_chain_idle_seconds: 0,
      assay_clock_difference_seconds: 10,
      assay_transactions_unmined: 2,
    });
  });

  test("behavior: a node that fails is seen as that, since when, and nothing is made up", async () => {
    let answers = true;
    const { read, pulse, later } = setUp(() =>
      answers ? Promise.resolve(12n) : Promise.reject(new Error("refused")),
    );
    await pulse.beat();
    answers = false;
    later(5_000);
    await pulse.beat();
    expect(await read()).toEqual({
      assay_rpc_up: 0,
      assay_rpc_silent_seconds: 5,
      assay_transactions_unmined: 2,
    });
  });

  test("behavior: a node that never answers holds nobody up", async () => {
    const { read, pulse } = setUp(() => new Promise(() => {}));
    const beating = pulse.beat();
    const startedAt = performance.now();
    expect((await read()).assay_rpc_up).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    await beating;
    expect(pulse.silentSinceMs).toBe(100_000);
  });
});
