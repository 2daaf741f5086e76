/** A daemon of a fleet with its machine, whom the worst befalls: it is killed, hangs, or is cut off, and whoever
 *  supervises it starts it again. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Daemon } from "../../../cli/demo/processes.ts";
import { fetchMetrics } from "../exposition.ts";
import { kill, signal } from "../fleet.ts";
import type { System } from "../system.ts";
import { startWorker } from "../workers.ts";
import { type Host, startHost } from "./hosts.ts";

/** Kinds of daemons, and what each logs when it is up. */
const IS_UP = {
  prover: "prover is up",
  challenger: "challenger is up",
  worker: "worker is up",
} as const;
/** Of those with an account, and with a node. */
const COMMANDS = { prover: ["prover"], challenger: ["challenger", "defend"] } as const;

export type MemberKind = keyof typeof IS_UP;

export type MemberPlan = { readonly name: string; readonly args: readonly string[] } & (
  | {
      readonly kind: keyof typeof COMMANDS;
      /** index of its account */
      readonly account: number;
      /** absent: its folder has the journal */
      readonly database?: string;
    }
  | {
      readonly kind: "worker";
      readonly database: string;
      /** folder of model folders that are named by their ids */
      readonly cache: string;
    }
);

export interface Surroundings {
  readonly system: System;
  readonly databasePort: number;
  /** takes a line of the timeline */
  readonly note: (what: string) => void;
}

/** After which it is started again when it ended by itself, ms. */
const RESTART_MS = 1_000;

export class Member {
  readonly plan: MemberPlan;
  readonly host: Host;
  /** Ends that nobody caused while all that it needs at its start was there. */
  readonly unexplained: string[] = [];
  readonly logs: string[] = [];
  readonly #around: Surroundings;
  #daemon: Daemon;
  /** What the process logged when it was up; undefined: it ended before. */
  #isUp: Promise<Record<string, unknown> | undefined>;
  #isHeldDown = false;
  /** until when the way to its node was not whole */
  #hadNoNodeUntilMs = 0;

  static async start(plan: MemberPlan, around: Surroundings): Promise<Member> {
    const nodePort = Number(new URL(around.system.rpcUrl).port);
    return new Member(plan, around, await startHost(nodePort, around.databasePort));
  }

  private constructor(plan: MemberPlan, around: Surroundings, host: Host) {
    this.plan = plan;
    this.host = host;
    this.#around = around;
    [this.#daemon, this.#isUp] = this.#spawn();
  }

  /** Resolves when a process of it is up. @returns what that one logged then */
  async up(): Promise<Record<string, unknown>> {
    for (;;) {
      const daemon = this.#daemon;
      const found = await this.#isUp;
      if (found !== undefined && daemon === this.#daemon) return found;
      await setTimeout(100);
    }
  }

  async metric(name: string): Promise<number> {
    const { url } = await this.up();
    return (await fetchMetrics(String(url))).get(name) ?? 0;
  }

  /** @param pause for which it stays dead */
  async dieFor(pause: () => Promise<void>): Promise<void> {
    this.#isHeldDown = true;
    await kill(this.#daemon);
    await pause();
    this.#isHeldDown = false;
    [this.#daemon, this.#isUp] = this.#spawn();
    // On a slow machine nothing else would happen to it than starts.
    await this.up();
  }

  async hangFor(pause: () => Promise<void>): Promise<void> {
    const daemon = this.#daemon;
    signal(daemon, "SIGSTOP");
    await pause();
    signal(daemon, "SIGCONT");
  }

  async beWithoutNodeFor(way: Pick<Host, "cut" | "mend">, pause: () => Promise<void>): Promise<void> {
    this.#hadNoNodeUntilMs = Number.POSITIVE_INFINITY;
    way.cut();
    await pause();
    way.mend();
    // A start takes a while to find out.
    this.#hadNoNodeUntilMs = Date.now() + 10_000;
  }

  async stop(): Promise<void> {
    this.#isHeldDown = true;
    await this.#daemon.stop();
    this.host.remove();
  }

  /** Lines of its logs, of all its processes, that hold this. */
  lines(part: string): string[] {
    return this.logs
      .flatMap((log) => readFileSync(log, "utf8").split("\n"))
      .filter((line) => line.includes(part));
  }

  #spawn() {
    const life = `${this.plan.name}-${this.logs.length + 1}`;
    const daemon = this.#startProcess(life);
    this.logs.push(daemon.log);
    void daemon.ended.then(() => this.#restart(life));
    const isUp = daemon.logged(IS_UP[this.plan.kind]).catch(() => undefined);
    return [daemon, isUp] as const;
  }

  #startProcess(life: string): Daemon {
    const { plan, host } = this;
    const { system } = this.#around;
    const { gateway, through } = host;
    const url = plan.database === undefined ? undefined : new URL(plan.database);
    if (url !== undefined) url.host = `${gateway}:${host.database.port}`;
    const listens = ["--host", host.address];
    if (plan.kind === "worker")
      return startWorker(life, {
        ...{ url: String(url), folder: system.folder, cache: plan.cache, through },
        args: [...listens, ...plan.args],
      });
    const args = [...COMMANDS[plan.kind], ...listens, "--port", "0", ...plan.args];
    return system.daemon(life, plan.account, args, {
      rpcUrl: `http://${gateway}:${host.node.port}`,
      through,
      env: {
        ASSAY_DATA: join(system.folder, plan.name),
        // Blocks come each second, and there are many daemons for one machine.
        ASSAY_POLL_INTERVAL_MS: "250",
        ...(url === undefined ? {} : { ASSAY_DATABASE: url.href }),
      },
    });
  }

  async #restart(life: string): Promise<void> {
    if (this.#isHeldDown) return;
    const isExplained = Date.now() < this.#hadNoNodeUntilMs;
    this.#around.note(`${life} ended by itself${isExplained ? ": it was started without its node" : ""}`);
    if (!isExplained) this.unexplained.push(life);
    await setTimeout(RESTART_MS);
    if (!this.#isHeldDown) [this.#daemon, this.#isUp] = this.#spawn();
  }
}
