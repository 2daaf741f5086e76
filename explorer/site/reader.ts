/** An explorer without a server: it follows a deployment into an index of its own, as far as its limit, and answers what
 *  the server would. It has no key. */
import { BaseError, isBaseError } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { SILENT } from "../../base/log.ts";
import { type Chain, connect } from "../../protocol/chain/connect.ts";
import { chainError } from "../../protocol/chain/errors.ts";
import { pause } from "../../protocol/chain/follower.ts";
import { quorumOf } from "../../protocol/chain/quorum/connect.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { NodePulse } from "../../protocol/service/metrics/node-pulse.ts";
import type { Glossary } from "../api/types.ts";
import { ExplorerIndex } from "../index/explorer-index.ts";
import { followInto } from "../index/follow.ts";
import { amountIn } from "../index/sums.ts";
import type { Change } from "../index/write.ts";
import { headMessages, messagesOf, resetMessage } from "../read/changes.ts";
import { NodeReads } from "../read/node-reads.ts";
import { type AnswerParts, atOneBlock } from "../read/parts.ts";
import type { Shelf } from "../shelf.ts";
import { type SqliteConnection, SqliteStore } from "../store/sqlite-store.ts";
import { answer, failed } from "./answer.ts";
import type { Answer, Fault, Listener, Progress, Question, Reading } from "./forms.ts";
import type { SiteFile } from "./site-file.ts";

interface ReaderOptions {
  readonly site: SiteFile;
  /** an empty one with the tables of an index */
  readonly db: SqliteConnection;
  /** @param fromChain a registered program's bytes */
  readonly shelf: (fromChain: (id: string) => Promise<Uint8Array>) => Shelf;
  readonly glossary: Glossary;
  readonly listener: Listener;
}

/** Pause between two questions to the node whether it is there, ms: a public node is asked seldom. */
const PULSE_MS = 4_000;
/** Longest that an answer waits for what no event tells, ms: nobody else waits, and the node may be far away. */
const PATIENCE_MS = 3_000;
/** Pause before a node that could not be reached is asked again, ms. */
const AGAIN_MS = 3_000;
/** Blocks that are asked for at once: where the node takes fewer, the questions become smaller. */
const MAX_BLOCKS = 10_000;
/** While much is read, pages read their part anew at most this often, ms. */
const RESET_MS = 2_000;

export class Reader {
  readonly #options: ReaderOptions;
  readonly #parts: Promise<AnswerParts>;
  #resolve: (parts: AnswerParts) => void = () => {};
  #reject: (error: BaseError) => void = () => {};
  readonly #full = new AbortController();
  #reading: Reading = { state: "connecting" };
  #resetAtMs = 0;

  constructor(options: ReaderOptions) {
    this.#options = options;
    this.#parts = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Nobody may have asked yet.
    this.#parts.catch(() => undefined);
  }

  get reading(): Reading {
    return this.#reading;
  }

  /** Answers when the chain is connected. Never throws. */
  async answer(question: Question): Promise<Answer> {
    try {
      return await answer(await this.#parts, question);
    } catch (error) {
      return failed(error);
    }
  }

  /** Reads until the signal aborts, or the limit is reached. Never throws for what a chain or a node does. */
  async run(signal: AbortSignal): Promise<void> {
    const { site } = this.#options;
    try {
      const chain = await this.#connect(signal);
      const pulse = new NodePulse({ client: chain.client, everyMs: PULSE_MS, nowMs: Date.now });
      await pulse.beat();
      const parts = this.#partsOf(chain, pulse);
      this.#resolve(parts);
      signal.addEventListener("abort", () => this.#full.abort());
      const beating = pulse.run(signal);
      await followInto(
        ...([parts.index, chain, this.#following(parts)] as const),
        (change) => this.#changed(parts, change),
        this.#full.signal,
      );
      await beating;
    } catch (error) {
      if (!isBaseError(error)) throw error;
      const refused = notReadable(error, site);
      this.#report({ state: "failed", fault: faultOf(refused) });
      this.#reject(refused);
    }
  }

  /** @throws BaseError for what no second try mends */
  async #connect(signal: AbortSignal): Promise<Chain> {
    const { deployment, rpcUrl, quorum } = this.#options.site;
    const nodes = quorumOf({ rpcUrl, quorum });
    for (;;) {
      this.#report(this.#reading);
      try {
        return await connect({ rpcUrl, deployment, quorum: nodes });
      } catch (thrown) {
        const error = chainError(thrown, "connect to the chain");
        if (!error.retryable || signal.aborted) throw error;
        this.#report({ state: "connecting", fault: faultOf(error) });
      }
      await pause(AGAIN_MS, signal);
    }
  }

  #partsOf(chain: Chain, pulse: NodePulse): AnswerParts {
    const { db, shelf, glossary } = this.#options;
    const state = new StateReader(chain);
    return {
      ...{ chain, pulse, glossary, nowMs: Date.now },
      index: new ExplorerIndex(new SqliteStore(db)),
      library: shelf((id) => state.program(id as ModelId)),
      reads: new NodeReads(chain, Date.now, PATIENCE_MS),
      provers: NO_PROVERS,
    };
  }

  #following(parts: AnswerParts) {
    const { confirmations, pollIntervalMs } = this.#options.site;
    const warn: Logger["warn"] = (fields) => {
      const { error } = fields as { readonly error?: unknown };
      const fault = faultOf(chainError(error, "follow the chain's events"));
      if (this.#reading.state === "live") this.#report({ state: "live", fault });
      else void this.#progress(parts).then((progress) => this.#report({ state: "reading", progress, fault }));
    };
    return { confirmations, pollIntervalMs, maxBlocks: MAX_BLOCKS, log: { ...SILENT, warn } };
  }

  async #progress({ index, pulse, chain }: AnswerParts): Promise<Progress> {
    const first = Number(chain.deployment.block.number);
    const events = await index.read(async ({ sums }) =>
      Number(amountIn(await sums.get("total", ""), "events")),
    );
    const at = Number(index.head?.number ?? first);
    const { width } = chain.ranges;
    return {
      ...{ first, at, newest: Math.max(at, Number(pulse.newest ?? 0n)), events },
      ...(width < MAX_BLOCKS ? { atOnce: Number(width) } : {}),
    };
  }

  async #changed(parts: AnswerParts, change: Change): Promise<void> {
    const { maxEvents, confirmations } = this.#options.site;
    const progress = await this.#progress(parts);
    if (progress.events >= maxEvents) {
      this.#full.abort();
      this.#report({ state: "full", progress, limit: maxEvents });
      this.#reset(parts);
      return;
    }
    if (this.#reading.state === "live") {
      if (this.#reading.fault !== undefined) this.#report({ state: "live" });
      const messages = await atOneBlock(parts, (own) => messagesOf(own, change));
      for (const message of messages) this.#options.listener.emit(message);
      return;
    }
    if (progress.at + confirmations >= progress.newest) {
      this.#report({ state: "live" });
      this.#reset(parts);
      return;
    }
    this.#report({ state: "reading", progress });
    if (Date.now() - this.#resetAtMs >= RESET_MS) this.#reset(parts);
  }

  /** Has pages read their part anew. */
  #reset(parts: AnswerParts): void {
    this.#resetAtMs = Date.now();
    for (const message of [resetMessage(parts), ...headMessages(parts)]) this.#options.listener.emit(message);
  }

  #report(reading: Reading): void {
    this.#reading = reading;
    this.#options.listener.reading(reading);
  }
}

/** Most characters of a node's own words. */
const MAX_WORDS = 200;

function faultOf({ code, shortMessage, nextStep = "", cause }: BaseError): Fault {
  const { details } = (cause ?? {}) as { readonly details?: unknown };
  const isKnown = typeof details !== "string" || details === "" || shortMessage.includes(details);
  const words = isKnown ? "" : ` It says: ${details.slice(0, MAX_WORDS)}.`;
  return { code, message: `${shortMessage}${words}`, nextStep };
}

/** The same for whoever looks at the site and has no command line. */
function notReadable(error: BaseError, { deployment }: SiteFile): BaseError {
  const { code, shortMessage, details } = error;
  const nextStep = `Whoever publishes this site exports it again with a node of chain ${deployment.chainId} and its deployment.`;
  return new BaseError({ code, shortMessage, nextStep, details, cause: error });
}

const NO_PROVERS: AnswerParts["provers"] = {
  serving: () => [],
  ask: async (name) => {
    throw new BaseError({
      code: "PROVER_UNKNOWN",
      shortMessage: `An exported site asks no provers, and so not ${JSON.stringify(name.slice(0, 80))}.`,
      nextStep: "Ask it with `assay request`, or use an explorer with a server.",
    });
  },
};
