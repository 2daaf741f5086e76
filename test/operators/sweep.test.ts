/** A daemon that sends away what its account does not need, as a process: also one that is killed in the middle. */
import { join } from "node:path";
import { getAddress, parseEther } from "viem";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { runInProcess } from "../support/assay.ts";
import { fileCase } from "../support/cases.ts";
import { longTest } from "../support/long-test.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const ANSWER_SECONDS = 120;
const ABOVE = parseEther("5");
const OWN = systemAccount(ROLES.prover).address;
/** Deeper than re-orgs go, and the blocks between two looks at the money. */
const DEEP = 64 + 20;

let system: System;
let proxy: RpcProxy;
let daemon: Daemon | undefined;
let used = 0;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  proxy = await startRpcProxy(system.rpcUrl);
});
afterAll(async () => {
  await system?.stop();
  await proxy?.stop();
});

afterEach(() => daemon?.stop());

/** An address that nobody has used. */
function coldAddress() {
  used += 1;
  return getAddress(`0x${"c01d".repeat(9)}${String(used).padStart(4, "0")}`);
}
const balanceOf = (address: `0x${string}`) => system.client.getBalance({ address });
const sweepTo = (to: string) => ["--sweep-to", to, "--sweep-above", "5ether"];
const start = (to: string): Daemon =>
  system.daemon("prover", ROLES.prover, ["prover", "--port", "0", ...sweepTo(to)], { rpcUrl: proxy.url });
const kill = async (daemon: Daemon): Promise<void> => {
  process.kill(daemon.pid as number, "SIGKILL");
  await daemon.ended;
};
const mined = async (blocks: number): Promise<void> => {
  const end = (await system.client.getBlockNumber()) + BigInt(blocks);
  await system.control.mine({ blocks });
  // Until the daemon has had the time to look, at blocks that come each second.
  await expect
    .poll(() => system.client.getBlockNumber(), { timeout: 60_000 })
    .toBeGreaterThanOrEqual(end + 3n);
};

describe("assay prover --sweep-to", () => {
  test("default: what is above goes once, what live claims may need stays, and more follows when there is more", async () => {
    const cold = coldAddress();
    const { claimed } = await fileCase(system, ROLES.prover);
    daemon = start(cold);
    await daemon.logged("prover is up");
    const { claim } = await claimed();
    await expect.poll(() => balanceOf(cold), { timeout: 60_000 }).toBeGreaterThan(0n);
    const [first, left] = [await balanceOf(cold), await balanceOf(OWN)];
    // Bonds to come are paid from what stays.
    expect(left).toBeGreaterThanOrEqual(ABOVE - 2n * claim.bond);
    expect(left).toBeLessThan(ABOVE + parseEther("0.1"));
    await mined(DEEP);
    expect(await balanceOf(cold)).toBe(first);
    await system.control.setBalance({ address: OWN, value: parseEther("8") });
    // The gas of a dispute about the live claim: what is left is above the amount itself.
    await expect.poll(() => balanceOf(cold), { timeout: 60_000 }).toBeGreaterThan(first);
    expect(await balanceOf(OWN)).toBeGreaterThan(ABOVE + 10n ** 14n);
  });

  longTest(
    "behavior: kill -9 before the node has it, and before its answer comes: it is sent once",
    async () => {
      const cold = coldAddress();
      await system.control.setBalance({ address: OWN, value: parseEther("100") });
      const count = () => system.client.getTransactionCount({ address: OWN });
      const before = await count();
      const silent = (verdict: "hold" | "swallow") =>
        new Promise<void>((resolve) => {
          proxy.onSilence = () => resolve();
          proxy.decide = ({ method }) => (method === "eth_sendRawTransaction" ? verdict : "pass");
        });
      for (const verdict of ["hold", "swallow"] as const) {
        const reached = silent(verdict);
        daemon = start(cold);
        await reached;
        await kill(daemon);
        // It is in the journal. A node that never got it has nothing to mine.
        if (verdict === "hold") expect([await balanceOf(cold), await count()]).toEqual([0n, before]);
      }
      proxy.decide = () => "pass";
      daemon = start(cold);
      await daemon.logged("prover is up");
      await expect.poll(() => balanceOf(cold), { timeout: 60_000 }).toBeGreaterThan(parseEther("94"));
      const [paid, left] = [await balanceOf(cold), await balanceOf(OWN)];
      expect(left).toBeGreaterThanOrEqual(ABOVE);
      await mined(DEEP);
      await mined(DEEP);
      expect([await balanceOf(cold), await balanceOf(OWN), await count()]).toEqual([paid, left, before + 1]);
    },
  );

  test("behavior: a challenger in mode defend does it too, one that only watches has no key to do it", async () => {
    const cold = coldAddress();
    const args = ["challenger", "defend", ...sweepTo(cold)];
    daemon = system.daemon("challenger", ROLES.challenger, args);
    expect(await daemon.logged("swept")).toMatchObject({ to: cold });
    expect(await balanceOf(cold)).toBeGreaterThan(0n);
    expect(await balanceOf(systemAccount(ROLES.challenger).address)).toBeGreaterThanOrEqual(ABOVE);
  });
});

describe("assay prover with a sweep that would lose money", () => {
  const refused = async (...args: readonly string[]) => {
    const { code, stderr } = await runInProcess(["prover", "--port", "0", ...args], {
      ASSAY_RPC_URL: system.rpcUrl,
      ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
      ASSAY_DATA: join(system.folder, "refused"),
      ASSAY_KEY: keyOf(ROLES.prover),
      ASSAY_PROVER_MODELS: join(system.folder, "models"),
    });
    return { code, line: stderr.split("\n", 1)[0] };
  };

  test("error: is refused before anything is done", async () => {
    const { assay, registry } = system.chain.deployment.contracts;
    const cases: readonly (readonly [readonly string[], string])[] = [
      [["--sweep-to", OWN], "error: --sweep-to is set and --sweep-above is missing."],
      [["--sweep-above", "5ether"], "error: --sweep-above is set and --sweep-to is missing."],
      [sweepTo(OWN), `error: --sweep-to is ${OWN}: that is the account of this key itself.`],
      [sweepTo(assay), `error: --sweep-to is ${assay}: that is this deployment's assay.`],
      [sweepTo(registry), `error: --sweep-to is ${registry}: that is this deployment's registry.`],
      [
        sweepTo(`0x${"0".repeat(40)}`),
        `error: --sweep-to is 0x${"0".repeat(40)}: that is the zero address, from which nothing comes back.`,
      ],
      [sweepTo("0x12"), 'error: sweepTo is "0x12" (from --sweep-to): must be an address.'],
    ];
    for (const [args, line] of cases) expect(await refused(...args)).toEqual({ code: 2, line });
  });
});
