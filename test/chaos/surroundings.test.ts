/** Daemons whose surroundings fail them: a node that is gone, slow or refuses, a clock that is wrong, a disk that is
 *  full, a second copy of themselves. Each time the honest claim must stand and the wrong one fall. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Daemon } from "../../cli/demo/processes.ts";
import { FALL_REASONS } from "../../protocol/rules/types.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { fileCase, of } from "../support/cases.ts";
import { MaliciousChallenger } from "../support/malicious-challenger.ts";
import { createRng } from "../support/rng.ts";
import { type RpcProxy, startRpcProxy, type Verdict } from "../support/rpc-proxy.ts";
import { sampled, scaled } from "../support/scale.ts";
import { type DaemonChanges, ROLES, type System, startSystem, systemAccount } from "../support/system.ts";

/** Room for every fault on any machine; the test lets the time of windows pass. */
const ANSWER_SECONDS = 240;
const [CHEAT, MALICIOUS] = [ROLES.cheat, ROLES.cheat + 1];
const SERVE = ["prover", "--port", "0"];
/** Whether a process can have a small file system of its own here. */
const canMount = spawnSync("unshare", ["-rm", "sh", "-c", "mount -t tmpfs none /mnt"]).status === 0;

let system: System;
let maliciousAccount: Awaited<ReturnType<System["open"]>>;
const daemons: Daemon[] = [];

beforeAll(async () => {
  system = await startSystem({ models: ["sentiment"], answerSeconds: ANSWER_SECONDS });
  maliciousAccount = await system.open("malicious-challenger", MALICIOUS);
  await system.cheat("cheat", CHEAT, "element:1").logged("prover is up");
});

afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.stop()));
});

afterAll(() => system.stop());

/** Starts a daemon for one test. */
async function start(
  role: "prover" | "challenger",
  name: string,
  changes: DaemonChanges = {},
): Promise<Daemon> {
  const args = role === "prover" ? SERVE : ["challenger", "defend"];
  const daemon = system.daemon(name, ROLES[role], args, changes);
  daemons.push(daemon);
  await daemon.logged(`${role} is up`);
  return daemon;
}

/** An honest claim under a malicious challenger and a wrong claim, both to their ends. */
async function play(): Promise<void> {
  const { events } = system;
  const [honest, wrong] = await Promise.all([fileCase(system, ROLES.prover), fileCase(system, CHEAT)]);
  const claimed = await honest.claimed();
  const malicious = new MaliciousChallenger(maliciousAccount, claimed, honest);
  await malicious.challenge();
  const { traceRoot } = await events.until("TraceCommitted", of(claimed));
  const demanded = await malicious.demandAll(traceRoot);
  await events.when(
    () => events.all("Revealed", of(claimed)).length === demanded.length || undefined,
    () => "Not every demand is answered",
  );
  const lie = await wrong.claimed();
  await events.until("Collected", of(lie));
  await system.passTime(honest.request.window + ANSWER_SECONDS + 1);
  await events.until("Finalized", of(claimed));

  expect(claimed.output).toBe(honest.right);
  const ofHonest = ({ requestId }: { requestId: string }) => requestId === honest.requestId;
  expect(events.all("Claimed", ofHonest)).toHaveLength(1);
  expect(events.all("Fell", of(claimed))).toEqual([]);
  expect(lie.output).not.toBe(wrong.right);
  const { address } = systemAccount(ROLES.challenger);
  expect(events.all("Challenged", of(lie)).map(({ challenger }) => challenger)).toEqual([address]);
  expect(events.all("Fell", of(lie)).map(({ reason }) => FALL_REASONS[reason])).toEqual(["ELEMENT"]);
  expect(events.all("Collected", of(lie)).map(({ owner }) => owner)).toEqual([address]);
}

describe("a node that fails", () => {
  const MODES = ["fine", "gone", "slow", "refuses"] as const;
  const PHASE_MS = 1_500;
  const SLOW_MS = 900;

  it("behavior: it is gone, slow and refuses calls, one after the other, all the time", async () => {
    const met = new Map<string, number>();
    const rng = createRng(1);
    const stopping = new AbortController();
    let startedAt: number | undefined;
    const proxies: RpcProxy[] = [];
    const unsteady = async (first: number): Promise<string> => {
      const proxy = await startRpcProxy(system.rpcUrl);
      proxies.push(proxy);
      proxy.decide = async (): Promise<Verdict> => {
        // A daemon ends where it finds no node when it starts; from then on it bears with it.
        if (startedAt === undefined || stopping.signal.aborted) return "pass";
        const mode = MODES[
          (first + Math.floor((Date.now() - startedAt) / PHASE_MS)) % MODES.length
        ] as string;
        met.set(mode, (met.get(mode) ?? 0) + 1);
        if (mode === "gone") return "break";
        if (mode === "slow") await setTimeout(rng.int(0, SLOW_MS));
        // What was asked is done, but the answer is an error.
        if (mode === "refuses" && rng.chance(0.3))
          return { error: { code: -32005, message: "limit exceeded" } };
        return "pass";
      };
      return proxy.url;
    };
    try {
      await start("prover", "prover", { rpcUrl: await unsteady(0) });
      await start("challenger", "challenger", { rpcUrl: await unsteady(2) });
      startedAt = Date.now();
      await play();
      expect([...met.keys()].sort()).toEqual([...MODES].sort());
    } finally {
      stopping.abort();
      await Promise.all(daemons.splice(0).map((daemon) => daemon.stop()));
      await Promise.all(proxies.map((proxy) => proxy.stop()));
    }
  });
});

describe("a clock that is wrong", () => {
  const skewed = (hours: number): DaemonChanges => ({
    env: {
      NODE_OPTIONS: `--import ${join(projectRoot, "test/support/skewed-clock.mjs")}`,
      CLOCK_OFFSET_MS: String(hours * 3_600_000),
    },
  });

  const hours = [
    [2, -2],
    [-2, 2],
  ] as const;
  it.each(sampled(hours, 2))(
    "behavior: the prover's by %i hours, the challenger's by %i",
    async (prover, challenger) => {
      await start("prover", "prover", skewed(prover));
      await start("challenger", "challenger", skewed(challenger));
      await play();
    },
  );
});

describe("a disk that is full", () => {
  /** A data folder on a file system of its own, which can be filled. */
  async function onSmallDisk(role: "prover" | "challenger") {
    const name = `${role}-small`;
    const folder = join(system.folder, name);
    mkdirSync(folder);
    const mount = 'mount -t tmpfs -o size=16m none "$ASSAY_DATA" && exec "$@"';
    const daemon = await start(role, name, { through: ["unshare", "-rm", "sh", "-c", mount, "sh"] });
    const filler = join(`/proc/${daemon.pid}/root`, folder, "filler");
    const fill = (): void => {
      for (let bytes = 2 ** 20; bytes >= 1; bytes /= 2) {
        try {
          for (;;) writeFileSync(filler, new Uint8Array(bytes), { flag: "a" });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        }
      }
    };
    return { daemon, fill, free: () => rmSync(filler) };
  }

  it.skipIf(!canMount)("behavior: both say so and live; once there is room they go on", async () => {
    const disks = [await onSmallDisk("prover"), await onSmallDisk("challenger")];
    for (const { fill } of disks) fill();
    const played = play();
    // Whoever awaits it hears of a failure.
    played.catch(() => undefined);
    for (const { daemon } of disks) {
      await vi.waitUntil(
        () => existsSync(daemon.log) && readFileSync(daemon.log, "utf8").includes("DATABASE_NOT_WRITABLE"),
        { timeout: 600_000, interval: 100 },
      );
    }
    const moved = disks.map(({ daemon }) => readFileSync(daemon.log, "utf8").includes('"msg":"moved"'));
    expect(moved, "nothing is sent that cannot be journalled").toEqual([false, false]);
    for (const { free } of disks) free();
    await played;
  });
});

describe("two copies of one daemon on one key, by mistake", () => {
  it("behavior: each claim is made, disputed and paid once, and all four go on", async () => {
    const copies = await Promise.all([
      start("prover", "prover"),
      start("prover", "prover-copy"),
      start("challenger", "challenger"),
      start("challenger", "challenger-copy"),
    ]);
    for (let round = 0; round < scaled(1, 2); round++) await play();
    for (const { pid } of copies) expect(process.kill(pid as number, 0)).toBe(true);
  });
});
