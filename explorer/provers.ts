/** Provers that the operator named: which models they serve, and what they answer to an input. No caller of the explorer
 *  names an address. */
import type { Hex } from "viem";
import type { z } from "zod";
import { fromHex, toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { pause } from "../protocol/chain/follower.ts";
import { proverPrice } from "./api/schemas/models.ts";
import { readAtMost } from "./known-answers.ts";

/** What a prover says of an input. */
export interface ProverAnswer {
  readonly status: "unverified" | "pending" | "final";
  readonly output: Hex;
  /** on the chain, that it belongs to */
  readonly requestId?: Hex;
  readonly claimId?: Hex;
}
/** What a final output costs, in units of a token. */
export type ProverPrice = Readonly<z.output<typeof proverPrice>>;

const PAUSE_MS = 30_000;
/** Longest that a list of models may take, ms. */
const LIST_TIMEOUT_MS = 5_000;
const MAX_LIST_BYTES = 4_194_304;
const MAX_OUTPUT_BYTES = 1_048_576;
/** Errors of provers have some 500. */
const MAX_ERROR_BYTES = 16_384;
const MAX_REASON = 300;
/** Within which a final output is asked for; a prover that is paid for it answers with its price at once. */
const FINAL_SECONDS = 600;

export class Provers {
  readonly #urls = new Map<string, string>();
  readonly #models = new Map<string, ReadonlySet<string>>();

  /** @param urls without a path */
  constructor(urls: readonly string[]) {
    for (const url of urls) this.#urls.set(new URL(url).host, url);
  }

  /** Those that serve a model, by host and port. */
  serving(model: string): string[] {
    return [...this.#models].filter(([, models]) => models.has(model)).map(([name]) => name);
  }

  /** Asks again and again, after a while, which models they serve, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(PAUSE_MS, signal);
      await this.poll();
    }
  }

  /** Asks each once. Never throws. */
  async poll(): Promise<void> {
    await Promise.all(
      [...this.#urls].map(async ([name, url]) => {
        this.#models.set(name, await modelsOf(url).catch(() => new Set<string>()));
      }),
    );
  }

  /** @param name host and port @param wantsFinal: a prover that charges answers with its price
   *  @throws BaseError PROVER_UNKNOWN, PROVER_UNREACHABLE (retryable), PROVER_REFUSED with its reason */
  async ask(
    name: string,
    model: Hex,
    input: Hex,
    wantsFinal: boolean,
    signal: AbortSignal,
  ): Promise<ProverAnswer | ProverPrice> {
    const url = this.#urls.get(name);
    if (url === undefined) throw unknown(name, [...this.#urls.keys()]);
    const target = new URL(`/tools/${model}`, url);
    if (wantsFinal) target.search = `?finality=final&timeout=${FINAL_SECONDS}`;
    const headers = { "Content-Type": "application/octet-stream" };
    const body = fromHex(input).slice();
    try {
      const response = await fetch(target, { method: "POST", headers, body, signal, redirect: "error" });
      if (!response.ok) return await refusalOf(name, response);
      return answerOf(response.headers, await readAtMost(response, MAX_OUTPUT_BYTES));
    } catch (error) {
      throw error instanceof BaseError ? error : unreachable(name, error);
    }
  }
}

async function modelsOf(url: string): Promise<Set<string>> {
  const signal = AbortSignal.timeout(LIST_TIMEOUT_MS);
  const response = await fetch(`${url}/v1/models`, { signal, redirect: "error" });
  const { models } = JSON.parse(new TextDecoder().decode(await readAtMost(response, MAX_LIST_BYTES))) as {
    readonly models: readonly { readonly modelId: string }[];
  };
  return new Set(models.map(({ modelId }) => modelId));
}

const STATUSES = ["unverified", "pending", "final"] as const;

function answerOf(headers: Headers, output: Uint8Array): ProverAnswer {
  const status = STATUSES.find((one) => one === headers.get("Assay-Status")) ?? "unverified";
  const [requestId, claimId] = ["Assay-Request", "Assay-Claim"].map((name) => idIn(headers.get(name)));
  return {
    status,
    output: toHex(output),
    ...(requestId === undefined ? {} : { requestId }),
    ...(claimId === undefined ? {} : { claimId }),
  };
}

const idIn = (text: string | null): Hex | undefined =>
  text !== null && /^0x[0-9a-f]{64}$/.test(text) ? (text as Hex) : undefined;

/** @throws BaseError PROVER_REFUSED for anything but a price */
async function refusalOf(name: string, response: Response): Promise<ProverPrice> {
  const text = new TextDecoder().decode(await readAtMost(response, MAX_ERROR_BYTES));
  const { code, message, details } = errorIn(text);
  const price = proverPrice.safeParse(details);
  if (response.status === 402 && price.success) return price.data;
  throw new BaseError({
    code: "PROVER_REFUSED",
    shortMessage: `The prover ${name} answered ${response.status}${code === "" ? "" : `, ${code}`}${message === "" ? "." : `: ${message}`}`,
    nextStep: "Ask it for something that it takes, or ask another.",
  });
}

function errorIn(text: string): { code: string; message: string; details: unknown } {
  try {
    const { error } = JSON.parse(text) as { readonly error?: Record<string, unknown> };
    const { code, message, details } = error ?? {};
    return {
      code: String(code ?? "").slice(0, MAX_REASON),
      message: String(message ?? "").slice(0, MAX_REASON),
      details,
    };
  } catch {
    return { code: "", message: "", details: undefined };
  }
}

const unknown = (name: string, known: readonly string[]): BaseError =>
  new BaseError({
    code: "PROVER_UNKNOWN",
    shortMessage: `This explorer knows no prover ${JSON.stringify(name.slice(0, 80))}.`,
    nextStep:
      known.length === 0 ? "Its operator names some with --prover." : `Take one of ${known.join(", ")}.`,
  });

const unreachable = (name: string, cause: unknown): BaseError =>
  new BaseError({
    code: "PROVER_UNREACHABLE",
    shortMessage: `The prover ${name} gave no answer.`,
    nextStep: "Ask again later, or ask another.",
    retryable: true,
    cause,
  });
