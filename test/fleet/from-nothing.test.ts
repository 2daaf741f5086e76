/** The walk-through of docs/OPERATIONS.md from nothing to a fleet, by the lines that it has: a prover, a standby, two workers
 *  and a challenger with a quorum, with real processes on a real PostgreSQL. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Address, parseEther } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Daemon, startDaemon } from "../../cli/demo/processes.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { runAssay } from "../support/assay.ts";
import { fileCase, of } from "../support/cases.ts";
import { expectTakeover, kill, metricsOf, SIGNS, STANDS_BY } from "../support/fleet.ts";
import { PASSWORD, type Postgres, startPostgres } from "../support/postgres.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";

const SOON = { timeout: 240_000, interval: 100 };
const page = readFileSync(join(projectRoot, "docs/OPERATIONS.md"), "utf8");
const from = page.indexOf("## A fleet from nothing");
/** The section's commands of this program, as arguments. */
const lines = [...page.slice(from, page.indexOf("\n## ", from)).matchAll(/^ {4}assay (.+)$/gm)].map(
  ([, words = ""]) => words.split(" "),
);
const commands = (name: string): string[][] => lines.filter(([first]) => first === name);

let system: System;
let postgres: Postgres;
let nodes: readonly RpcProxy[];
const workers: Daemon[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  system = await startSystem({ models: ["sentiment"], answerSeconds: 120 });
  nodes = await Promise.all([1, 2, 3].map(() => startRpcProxy(system.rpcUrl)));
});
afterAll(async () => {
  await Promise.all(workers.map((worker) => worker.stop()));
  await system?.stop();
  for (const node of nodes ?? []) await node.stop();
  await postgres?.stop();
});

/** Files and folders of the document are in the system's folder, and the prover is where it listens here. */
const here = (args: readonly string[], source = ""): string[] =>
  args.map((word, index) => {
    const isFolder = ["--data", "--cache"].includes(args[index - 1] ?? "");
    if (isFolder || /\.(json|password)$/.test(word)) return join(system.folder, word);
    return word.startsWith("http://prover.example") ? source : word;
  });

/** A key that the walk-through makes, with ether. */
async function makeKey(args: readonly string[]): Promise<Address> {
  const { code, stdout } = await runAssay([...here(args), "--json"]);
  expect(code).toBe(0);
  const { address } = JSON.parse(stdout) as { address: Address };
  await system.control.setBalance({ address, value: parseEther("100") });
  return address;
}

/** A daemon that signs, with the key of its line. */
function daemon(name: string, args: readonly string[]): Daemon {
  const rpcUrl = nodes.map(({ url }) => url).join(",");
  const env = { ASSAY_DATABASE: postgres.url, ASSAY_KEY: "" };
  return system.daemon(name, ROLES.prover, [...here(args), "--port", "0"], { rpcUrl, env });
}

function worker(args: readonly string[], source: string): Daemon {
  const started = startDaemon({
    ...{ name: `worker-${workers.length}`, args: here(args, source), folder: system.folder },
    ...{ key: "0x", rpcUrl: "", deployment: "" },
    env: { ASSAY_DATABASE: postgres.url, ASSAY_KEY: "" },
  });
  workers.push(started);
  return started;
}

test("default: a fleet from nothing outlives its prover and a node, and convicts a cheat", async () => {
  for (const name of ["prover", "challenger"])
    writeFileSync(join(system.folder, `${name}.password`), "of the test\n");
  const [proverAddress, challengerAddress] = await Promise.all(commands("key").map(makeKey));

  const [proverLine = [], standbyLine = [], ...moreProvers] = commands("prover");
  const prover = daemon("prover", proverLine);
  const [{ url }] = await Promise.all([prover.logged("prover is up"), prover.logged(SIGNS)]);
  // One after the other: a start asks three nodes for much, each of which has a time limit.
  const standby = daemon("standby", standbyLine);
  await Promise.all([standby.logged("prover is up"), standby.logged(STANDS_BY)]);
  const workerLines = commands("worker");
  for (const line of workerLines) await worker(line, String(url)).logged("worker is up");
  const challenger = daemon("challenger", commands("challenger")[0] ?? []);
  expect([lines.length, moreProvers.length, workerLines.length]).toEqual([7, 0, 2]);

  const ofChallenger = await metricsOf(challenger, "challenger is up");
  const ofProver = await metricsOf(prover, "prover is up");
  for (const metric of [ofProver, ofChallenger])
    await expect.poll(() => metric("assay_workers_alive"), SOON).toBe(2);

  /** Who claims a request, with which output. */
  const claims = async () => {
    const filed = await fileCase(system);
    const made = await filed.claimed();
    expect([made.claim.prover, made.output]).toEqual([proverAddress, filed.right]);
    return made;
  };
  const first = await claims();
  await expect
    .poll(() => ofChallenger('assay_worker_orders_total{outcome="answered"}'), SOON)
    .toBeGreaterThan(0);

  const [node] = nodes as [RpcProxy, ...RpcProxy[]];
  node.decide = () => "break";
  const since = Date.now();
  await kill(prover);
  await expectTakeover(standby, since);
  const second = await claims();

  await system.cheat("cheat", ROLES.cheat, "output").logged("prover is up");
  const wrong = await (await fileCase(system, ROLES.cheat)).claimed();
  const { challenger: who } = await system.events.until("Challenged", of(wrong));
  expect(who).toBe(challengerAddress);
  await system.events.until("Fell", of(wrong));
  for (const right of [first, second]) expect(system.events.all("Challenged", of(right))).toEqual([]);
  for (const { log } of [prover, standby, challenger, ...workers])
    expect(readFileSync(log, "utf8")).not.toContain(PASSWORD);
});
