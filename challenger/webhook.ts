/** Tells the operator by HTTP what cannot wait for somebody to look at a dashboard. */

import { jsonOf } from "../base/json.ts";
import type { Logger } from "../base/log.ts";
import { RecentSet } from "../base/recent.ts";
import { pause } from "../protocol/chain/follower.ts";
import type { GameAddress } from "../protocol/rules/ids.ts";
import { type Alert, alertOf } from "./alerts.ts";
import type { Notice } from "./notices.ts";

export interface WebhookOptions {
  /** often holds a secret: it is never logged */
  readonly url: string;
  readonly game: GameAddress;
  readonly log: Logger;
  readonly nowMs: () => number;
  /** of one try; default 10,000 */
  readonly timeoutMs?: number;
  /** before the second try, doubled before each further one; default 1,000 */
  readonly retryMs?: number;
}

const TRIES = 5;
/** Alerts that wait for the receiver; beyond them the oldest goes. */
const MAX_WAITING = 100;
/** Alerts that are remembered so that none is sent twice. */
const MAX_REMEMBERED = 10_000;

/** One POST of a JSON object for each alert, in order, tried again for a while. Never holds up who observes. */
export class Webhook {
  readonly #options: Required<WebhookOptions>;
  readonly #waiting: Alert[] = [];
  readonly #sent = new RecentSet<string>(MAX_REMEMBERED);
  readonly #stopping = new AbortController();
  #dropped = 0;
  #running: Promise<void> | undefined;

  constructor(options: WebhookOptions) {
    this.#options = { timeoutMs: 10_000, retryMs: 1_000, ...options };
  }

  observe(notice: Notice): void {
    const alert = alertOf(notice);
    if (alert === undefined || this.#stopping.signal.aborted) return;
    const about = alert.claim ?? alert.promise;
    const key = `${alert.kind} ${about ?? ""}`;
    // Planned claims have no id: each of them is news.
    if (!this.#sent.add(key) && about !== undefined) return;
    this.#waiting.push(alert);
    if (this.#waiting.length > MAX_WAITING) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    this.#running ??= this.#run();
  }

  /** Sends what waits, and gives up at the first that fails. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let alert = this.#waiting.shift(); alert !== undefined; alert = this.#waiting.shift()) {
      const dropped = this.#dropped;
      if (await this.#deliver(alert, dropped)) this.#dropped -= dropped;
      else if (this.#stopping.signal.aborted) break;
    }
    this.#running = undefined;
  }

  async #deliver(alert: Alert, dropped: number): Promise<boolean> {
    const { game, nowMs, retryMs, log } = this.#options;
    const at = new Date(nowMs()).toISOString();
    const body = jsonOf({ ...alert, at, ...game, ...(dropped === 0 ? {} : { dropped }) });
    let wait = retryMs;
    for (let tries = 1; ; tries += 1) {
      const failure = await this.#post(body);
      if (failure === undefined) return true;
      if (tries === TRIES || this.#stopping.signal.aborted) {
        log.error(
          { kind: alert.kind, claim: alert.claim, tries, reason: failure },
          "an alert was not delivered",
        );
        return false;
      }
      await pause(wait, this.#stopping.signal);
      wait *= 2;
    }
  }

  /** @returns why it failed; never the URL */
  async #post(body: string): Promise<string | undefined> {
    const { url, timeoutMs } = this.#options;
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
        // The operator named this address and no other.
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      await response.body?.cancel();
      return response.ok ? undefined : `it answered ${response.status}`;
    } catch (error) {
      const { name, cause } = error as { name?: string; cause?: { code?: string } };
      return cause?.code ?? name ?? "it failed";
    }
  }
}
