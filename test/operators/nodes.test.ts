/** A challenger over three nodes of which one lies, and one that stops itself. */
import { join } from "node:path";
import type { Hex } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { formatAmount } from "../../base/amounts.ts";
import { runAssay } from "../support/assay.ts";
import { fileCase, of } from "../support/cases.ts";
import { fetchMetrics } from "../support/exposition.ts";
import { longTest } from "../support/long-test.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { keyOf, ROLES, type System, startSystem } from "../support/system.ts";

const STOPPED =
  "no more tickets are filed: look with `assay challenger investigate`, then `assay challenger reset-breaker`";
let system: System;
let proxies: RpcProxy[] = [];

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: 120 });
  proxies = await Promise.all([1, 2, 3].map(() => startRpcProxy(system.rpcUrl)));
  await system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]).logged("prover is up");
  await system.cheat("cheat", ROLES.cheat, "output").logged("prover is up");
});
afterAll(async () => {
  await system?.stop();
  for (const proxy of proxies) await proxy.stop();
});

const urls = () => proxies.map(({ url }) => url).join(",");
const assay = (name: string, args: readonly string[]) =>
  runAssay(args, {
    ASSAY_RPC_URL: urls(),
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_DATA: join(system.folder, name),
    ASSAY_KEY: keyOf(ROLES.challenger),
  });

/** What the node answers, with the last byte of each log that is no zero turned over. */
async function altered(call: object): Promise<unknown> {
  const answer = await fetch(system.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", ...call }),
  });
  const { result } = (await answer.json()) as { result: { data: Hex }[] };
  return result.map((log) => ({
    ...log,
    data: log.data.replace(/([1-9a-f])(0*)$/, (_, digit: string, zeros: string) => {
      return `${((Number.parseInt(digit, 16) % 15) + 1).toString(16)}${zeros}`;
    }),
  }));
}

describe("a challenger over three nodes", () => {
  test("behavior: one that shows other outputs has no right claim disputed, and no wrong one missed", async () => {
    const [liar] = proxies as [RpcProxy];
    liar.decide = async (call) => (call.method === "eth_getLogs" ? { result: await altered(call) } : "pass");
    const challenger = system.daemon(
      "challenger",
      ROLES.challenger,
      ["challenger", "defend", "--port", "0"],
      {
        rpcUrl: urls(),
      },
    );
    const { url } = await challenger.logged("challenger is up");
    const right = await (await fileCase(system, ROLES.prover)).claimed();
    const wrong = await (await fileCase(system, ROLES.cheat)).claimed();
    await system.events.until("Fell", of(wrong));
    expect(system.events.all("Challenged", of(right))).toEqual([]);
    const metrics = await fetchMetrics(String(url));
    const agrees = proxies.map((proxy, index) =>
      metrics.get(`assay_node_agrees{node="${proxy.url} (${index + 1})"}`),
    );
    expect(agrees).toEqual([0, 1, 1]);
    const { code, stdout, stderr } = await assay("investigation", [
      "challenger",
      "investigate",
      right.claimId,
      "--json",
    ]);
    expect(code, stderr).toBe(0);
    const report = JSON.parse(stdout);
    expect(report.ownRun).toMatchObject({ verdict: { kind: "right" } });
    const outputs = report.nodes.map(
      (node: { claimed?: { output: Hex } }) => node.claimed?.output === right.output,
    );
    expect(outputs).toEqual([false, true, true]);
    const fallen = await assay("investigation", ["challenger", "investigate", wrong.claimId, "--json"]);
    expect(JSON.parse(fallen.stdout)).toMatchObject({
      claim: { word: { state: "FALLEN" } },
      ownRun: { verdict: { kind: "wrong" }, partsAt: { kind: "output" } },
    });
    // One that has no blocks is told of, and takes nothing from what the others say.
    liar.decide = ({ method }) =>
      method === "eth_getBlockByNumber" ? { error: { code: -32_000, message: "header not found" } } : "pass";
    const without = await assay("investigation", ["challenger", "investigate", right.claimId, "--json"]);
    expect(without.code, without.stderr).toBe(0);
    expect(JSON.parse(without.stdout)).toMatchObject({
      ownRun: { verdict: { kind: "right" } },
      nodes: [{ fault: expect.stringContaining("read the block") }, { state: "ACTIVE" }, { state: "ACTIVE" }],
    });
    liar.decide = () => "pass";
    await challenger.stop();
  });

  longTest(
    "behavior: beyond --max-exposure within an hour it files none until a person resets it, also when started anew",
    async () => {
      const first = await (await fileCase(system, ROLES.cheat)).claimed();
      // One ticket, and not two.
      const limit = (first.claim.ticketBond * 3n) / 2n;
      const args = ["challenger", "defend", "--max-exposure", `${limit}`];
      const start = () => system.daemon("careful", ROLES.challenger, args);
      const careful = start();
      await careful.logged("challenger is up");
      await system.events.until("Challenged", of(first));
      const second = await (await fileCase(system, ROLES.cheat)).claimed();
      await careful.logged(STOPPED);
      await system.events.until("Fell", of(first));
      await careful.stop();
      const again = start();
      await again.logged("challenger is up");
      const third = await (await fileCase(system, ROLES.cheat)).claimed();
      await again.logged("claim is wrong");
      expect(system.events.all("Challenged", of(third))).toEqual([]);
      const { code, stdout } = await assay("careful", ["challenger", "reset-breaker", "--json"]);
      expect([code, JSON.parse(stdout).reason]).toEqual([
        0,
        expect.stringContaining(`--max-exposure (${formatAmount(limit)})`),
      ]);
      await Promise.any([second, third].map((claim) => system.events.until("Challenged", of(claim))));
      const refused = await assay("elsewhere", ["challenger", "reset-breaker"]);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("has not tripped")]);
      await again.stop();
    },
  );
});
