/** Money out of Assay while the daemon runs whose money it is. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { getAddress } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { askDaemon } from "../../protocol/service/control.ts";
import { runInProcess } from "../support/assay.ts";
import { fileCase } from "../support/cases.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { keyOf, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

const ANSWER_SECONDS = 120;
const NEVER = "1000000000000000000000";
const COLD = getAddress(`0x${"c01d".repeat(10)}`);
const OWN = systemAccount(ROLES.prover).address;
let system: System;
let proxy: RpcProxy;
let prover: Daemon;

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  proxy = await startRpcProxy(system.rpcUrl);
  prover = await startProver();
  const challenger = system.daemon("challenger", ROLES.challenger, ["challenger", "defend"]);
  await challenger.logged("challenger is up");
});
afterAll(async () => {
  await system?.stop();
  await proxy?.stop();
});

async function startProver(): Promise<Daemon> {
  const args = ["prover", "--port", "0", "--withdraw-above", NEVER];
  const daemon = system.daemon("prover", ROLES.prover, args, { rpcUrl: proxy.url });
  await daemon.logged("prover is up");
  return daemon;
}

const withdraw = (...args: readonly string[]) =>
  runInProcess(["withdraw", "--json", ...args], {
    ASSAY_RPC_URL: system.rpcUrl,
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_DATA: join(system.folder, "prover"),
    ASSAY_KEY: keyOf(ROLES.prover),
    ASSAY_POLL_INTERVAL_MS: "50",
  });
const creditOf = () => new StateReader(system.chain).credits(OWN);

/** Credit of the prover, by a claim that became final. */
async function earn(): Promise<bigint> {
  const { request, requestId, claimed } = await fileCase(system, ROLES.prover);
  await claimed();
  await system.passTime(request.window);
  await system.events.until("Finalized", (event) => event.requestId === requestId);
  return creditOf();
}

describe("assay withdraw beside the running daemon", () => {
  test("default: the daemon pays the credit out, once, to whom the command says", async () => {
    const credit = await earn();
    expect(credit).toBeGreaterThan(0n);
    const [first, second] = await Promise.all([withdraw("--to", COLD), askWithdraw()]);
    expect([first.code, first.stderr]).toEqual([0, ""]);
    const amounts = [JSON.parse(first.stdout) as Withdrawn, second];
    expect(amounts.map(({ amountWei }) => BigInt(amountWei)).sort()).toEqual([0n, credit].sort());
    expect(await system.client.getBalance({ address: COLD })).toBe(credit);
    expect(await creditOf()).toBe(0n);
    expect(await withdraw("--to", COLD)).toMatchObject({ code: 0 });
    expect(await system.client.getBalance({ address: COLD })).toBe(credit);
  });

  test("behavior: the socket is its owner's alone, also a challenger's", () => {
    for (const name of ["prover", "challenger"]) {
      const { mode } = statSync(join(system.folder, name, "control.sock"));
      expect(mode & 0o777).toBe(0o600);
    }
  });

  test("error: what a live claim's defence may take stays; the account itself still gets its credit", async () => {
    const credit = await earn();
    const { claimed } = await fileCase(system, ROLES.prover);
    await claimed();
    await expect.poll(() => withdraw("--to", "0x12")).toMatchObject({ code: 2 });
    const balance = 10n ** 14n;
    await system.control.setBalance({ address: OWN, value: balance });
    // Until the daemon has looked at the block with its claim.
    await expect
      .poll(async () => (await withdraw("--to", COLD)).stderr, { timeout: 60_000 })
      .toContain("BALANCE_RESERVED");
    expect(await creditOf()).toBe(credit);
    const own = await withdraw();
    expect([own.code, JSON.parse(own.stdout)]).toMatchObject([0, { amountWei: `${credit}`, to: OWN }]);
    expect(await system.client.getBalance({ address: OWN })).toBeGreaterThan(balance);
  });

  test("behavior: kill -9 between journal and node, and before the node's answer: a command that is repeated pays once", async () => {
    const cold = getAddress(`0x${"c01e".repeat(10)}`);
    const paid = () => system.client.getBalance({ address: cold });
    for (const verdict of ["hold", "swallow"] as const) {
      const before = await paid();
      const credit = await earn();
      expect(credit).toBeGreaterThan(0n);
      const reached = new Promise<void>((resolve) => {
        proxy.onSilence = () => resolve();
        proxy.decide = ({ method }) => (method === "eth_sendRawTransaction" ? verdict : "pass");
      });
      const asked = withdraw("--to", cold);
      await reached;
      process.kill(prover.pid as number, "SIGKILL");
      await prover.ended;
      expect(await asked).toMatchObject({ code: 3, stderr: expect.stringContaining("CONTROL_FAILED") });
      if (verdict === "hold") expect(await paid()).toBe(before);
      proxy.decide = () => "pass";
      prover = await startProver();
      // Until it has looked at the chain it cannot tell what it owes.
      await expect.poll(() => withdraw("--to", cold), { timeout: 60_000 }).toMatchObject({ code: 0 });
      expect(await withdraw("--to", cold)).toMatchObject({ code: 0 });
      expect([await paid(), await creditOf()]).toEqual([before + credit, 0n]);
    }
  });

  test("error: receivers from which nothing would come back", async () => {
    const { assay } = system.chain.deployment.contracts;
    for (const [to, what] of [
      [`0x${"0".repeat(40)}`, "the zero address"],
      [assay, "this deployment's assay"],
    ] as const) {
      expect(await withdraw("--to", to)).toMatchObject({ code: 2, stderr: expect.stringContaining(what) });
    }
  });

  test("error: a command that the daemon does not know", async () => {
    await expect(askDaemon(join(system.folder, "challenger"), "deliver", {})).rejects.toMatchObject({
      code: "CONTROL_UNKNOWN",
    });
  });
});

interface Withdrawn {
  readonly amountWei: string;
}
const askWithdraw = async () =>
  (await askDaemon(join(system.folder, "prover"), "withdraw", { to: COLD })) as unknown as Withdrawn;
