/** The operator's own daemons, asked for their metrics again and again. Their addresses come from the command line alone:
 *  no caller of the explorer names one. */
import { type Address, isAddress } from "viem";
import { BaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { readAtMost } from "../known-answers.ts";
import { type Alert, InstanceAlerts } from "./alerts.ts";
import { parseExposition, type Sample } from "./exposition.ts";

/** What a daemon said last, and when. */
export interface Watched {
  /** host and port */
  readonly instance: string;
  readonly role?: "prover" | "challenger";
  readonly account?: Address;
  /** of the last answer, ms since 1970; absent: it never gave one */
  readonly answeredAtMs?: number;
  readonly isUp: boolean;
  /** of the last answer, by name, those without labels that are finite */
  readonly values: ReadonlyMap<string, number>;
  /** what GET /healthz says, where it is served */
  readonly status?: string;
  /** the contract that it works on, if it says so */
  readonly assay?: string;
}

export interface WatcherOptions {
  readonly urls: readonly string[];
  readonly nowMs: () => number;
  readonly log: Logger;
}

const PAUSE_MS = 5_000;
/** Longest that an answer may take, ms, and largest that it may be, bytes. */
const TIMEOUT_MS = 3_000;
const MAX_BYTES = 4_194_304;

export class Watcher {
  readonly #options: WatcherOptions;
  readonly #watched = new Map<string, Watched>();
  readonly #alerts = new Map<string, InstanceAlerts>();

  constructor(options: WatcherOptions) {
    this.#options = options;
    for (const url of options.urls) {
      const instance = instanceOf(url);
      this.#watched.set(url, { instance, isUp: false, values: new Map() });
      this.#alerts.set(url, new InstanceAlerts(instance));
    }
  }

  /** In the order in which they were named. */
  get watched(): readonly Watched[] {
    return [...this.#watched.values()];
  }

  /** The worst first, then what has held longest. */
  get alerts(): readonly Alert[] {
    const rank = ({ severity }: Alert): number => (severity === "critical" ? 0 : 1);
    return [...this.#alerts.values()]
      .flatMap(({ alerts }) => alerts)
      .sort((a, b) => rank(a) - rank(b) || a.sinceMs - b.sinceMs);
  }

  /** Asks until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.poll();
      await pause(PAUSE_MS, signal);
    }
  }

  /** Asks each once. Never throws, and never takes much longer than its patience. */
  async poll(): Promise<void> {
    await Promise.all(this.#options.urls.map((url) => this.#ask(url)));
  }

  async #ask(url: string): Promise<void> {
    const { nowMs, log } = this.#options;
    const before = this.#watched.get(url) as Watched;
    try {
      const [samples, health] = await Promise.all([
        read(`${url}/metrics`).then(parseExposition),
        read(`${url}/healthz`, [200, 503])
          .then(healthOf)
          .catch(() => ({})),
      ]);
      this.#watched.set(url, {
        instance: before.instance,
        isUp: true,
        answeredAtMs: nowMs(),
        values: new Map(
          samples
            .filter(({ labels, value }) => Object.keys(labels).length === 0 && Number.isFinite(value))
            .map(({ name, value }) => [name, value]),
        ),
        ...roleOf(samples),
        ...health,
      });
      this.#alerts.get(url)?.take(nowMs(), samples);
    } catch (error) {
      if (before.isUp) log.warn({ instance: before.instance, error }, "a watched daemon does not answer");
      this.#watched.set(url, { ...before, isUp: false });
      this.#alerts.get(url)?.take(nowMs(), undefined);
    }
  }
}

const instanceOf = (url: string): string => new URL(url).host;

/** @throws BaseError WATCH_FAILED; faults of the connection */
async function read(url: string, statuses: readonly number[] = [200]): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: "error" });
  if (!statuses.includes(response.status)) throw failed(url, `answers ${response.status}`);
  return new TextDecoder().decode(await readAtMost(response, MAX_BYTES));
}

const failed = (url: string, what: string): BaseError =>
  new BaseError({
    code: "WATCH_FAILED",
    shortMessage: `${url} ${what}.`,
    nextStep: "Name with --watch where a prover or challenger serves its metrics.",
  });

function roleOf(samples: readonly Sample[]): Pick<Watched, "role" | "account"> {
  const has = (start: string): boolean => samples.some(({ name }) => name.startsWith(start));
  const { account = "" } = samples.find(({ name }) => name === "assay_account_info")?.labels ?? {};
  return {
    ...(has("assay_challenger_") ? { role: "challenger" } : has("assay_prover_") ? { role: "prover" } : {}),
    ...(isAddress(account, { strict: false }) ? { account } : {}),
  };
}

function healthOf(text: string): Pick<Watched, "status" | "assay"> {
  const { status, assay } = JSON.parse(text) as { readonly status?: unknown; readonly assay?: unknown };
  return {
    ...(typeof status === "string" ? { status } : {}),
    ...(typeof assay === "string" ? { assay } : {}),
  };
}
