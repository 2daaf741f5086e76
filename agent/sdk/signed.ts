/** Signed answers: asked for over HTTP, taken only where the chain says that they can be counted on, tried now and then,
 *  and reported where they are wrong. docs/PROMISES.md has the rules. */
import { type Address, type Hex, isAddressEqual } from "viem";
import { formatAmount } from "../../base/amounts.ts";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Reading } from "../../inference/meaning/read.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { inferOnChain } from "../../protocol/chain/execution/infer.ts";
import { requireAccepted } from "../../protocol/chain/promises/accept.ts";
import { promisesOf } from "../../protocol/chain/promises/place.ts";
import { decodeReturn, encodeCall } from "../../protocol/rules/abi.ts";
import { type Presented, parsePresented, renderPresented } from "../../protocol/rules/promises/presented.ts";
import type { Digest } from "../../protocol/rules/promises/signed-claim.ts";
import { ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import {
  answered,
  MAX_ERROR_BYTES,
  type ProverTerms,
  post,
  readAtMost,
  refused,
  wrong,
} from "./ask-prover.ts";
import { type Model, readingOf, type Values } from "./model.ts";

export interface SignedTerms extends ProverTerms {
  /** whose promise is taken; absent: anybody's whose stake is there */
  readonly prover?: Address;
  /** who asks; no rule reads it; absent: nobody */
  readonly requester?: Address;
  /** that must be left to its end; default 3,600 */
  readonly leastSeconds?: number;
  /** that the signed claim must name, wei; default 0 */
  readonly minBond?: bigint;
  /** true: it also goes into a batch, which the answer does not wait for; default: false */
  readonly batch?: boolean;
}

/** Return data that a stake stands behind. They are not final. */
export interface SignedBytes {
  /** what opening it takes: keep it until its end */
  readonly presented: Presented;
  readonly digest: Digest;
  /** last second in which it can be opened */
  readonly end: number;
  /** of its claim if it were opened now, wei */
  readonly bond: bigint;
}

/** An output that a stake stands behind. It is not final. */
export interface SignedOutput extends SignedBytes {
  /** the output by name */
  readonly values: Values;
  readonly meaning?: Reading;
}

const LEAST_SECONDS = 3_600;

/** Asks a prover, and takes its answer only if the contract would: signature, key, time, form, and a stake that is free.
 *  @throws BaseError PROVER_REFUSED, SIGNED_CLAIM_WRONG, SIGNED_CLAIM_INVALID, SIGNED_CLAIM_ELSEWHERE, INPUT_MISMATCH,
 *  OUTPUT_MISMATCH; the reasons of `accept`; PROMISES_MISSING, INPUTS_INVALID; faults of the node (retryable) */
export async function askSigned(
  chain: Chain,
  model: Model,
  values: Values,
  terms: SignedTerms,
): Promise<SignedOutput> {
  return named(model, await takeSigned(chain, model, encodeCall(model.function, values), terms));
}

/** The output by name, and as it is read. */
export function named(model: Model, signed: SignedBytes): SignedOutput {
  const { output } = signed.presented;
  const meaning = readingOf(model, output);
  const values = decodeReturn(model.function, output);
  return { ...signed, values, ...(meaning === undefined ? {} : { meaning }) };
}

/** What a prover has to know of a model to be asked for bytes. */
export type Signable = Pick<Model, "modelId"> & { readonly word: Pick<Model["word"], "outputLength"> };

/** The same with calldata and return data. @throws BaseError as askSigned does */
export async function takeSigned(
  chain: Chain,
  model: Signable,
  input: Hex,
  terms: SignedTerms,
): Promise<SignedBytes> {
  const { requester = ZERO_ADDRESS } = terms;
  const { output, header } = await fetchSigned(model, input, requester, terms);
  return requireTaken(chain, model, { ...decodeHeader(header), input, output }, terms);
}

/** What a prover answered, if it is what was asked for and the contract would take it.
 *  @param answer JSON of a signed claim, with the input that was asked for
 *  @throws BaseError as askSigned does */
export async function requireTaken(
  chain: Chain,
  model: Signable,
  answer: object,
  terms: SignedTerms,
): Promise<SignedBytes> {
  const { requester = ZERO_ADDRESS, leastSeconds = LEAST_SECONDS } = terms;
  const presented = parsePresented(promisesOf(chain.deployment), answer);
  requireAsked(presented, model, requester, terms);
  const { digest, end, bond } = await requireAccepted(chain, presented, leastSeconds);
  return { presented, digest, end, bond };
}

async function fetchSigned(
  { modelId, word }: Signable,
  input: Hex,
  requester: Address,
  terms: SignedTerms,
): Promise<{ readonly output: Hex; readonly header: string }> {
  const { url, batch = false } = terms;
  const place = `${url.replace(/\/$/, "")}/tools/${modelId}?finality=signed&batch=${batch}&requester=${requester}`;
  const asked = { type: "application/octet-stream", body: fromHex(input), longest: word.outputLength };
  const { response, body } = await post(place, asked, terms);
  const header = response.headers.get("Assay-Signed-Claim");
  if (header === null) throw refused(url, answered(response, body));
  return { output: toHex(body), header };
}

function decodeHeader(header: string): object {
  try {
    const text = atob(header.replaceAll("-", "+").replaceAll("_", "/"));
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Below.
  }
  throw wrong("the header Assay-Signed-Claim is not JSON in base64url");
}

/** What the contract does not know: that it is what was asked for. */
function requireAsked(
  { claim }: Presented,
  { modelId }: Signable,
  requester: Address,
  { prover, minBond = 0n }: SignedTerms,
): void {
  if (claim.modelId !== modelId) throw wrong(`it is for model ${claim.modelId}, asked was ${modelId}`);
  if (!isAddressEqual(claim.requester, requester))
    throw wrong(`it names the requester ${claim.requester}, asked was for ${requester}`);
  if (prover !== undefined && !isAddressEqual(claim.prover, prover))
    throw wrong(`it is ${claim.prover}'s, asked was ${prover}`);
  if (claim.minBond < minBond)
    throw wrong(
      `it names a bond of ${formatAmount(claim.minBond)}, at least ${formatAmount(minBond)} was asked for`,
    );
}

export interface SpotCheckOptions {
  /** of running the model again, 0 to 1 */
  readonly probability: number;
  /** The model's own executor. Absent: the chain runs the model in a call, which costs nothing and needs published
   *  weights. @param input calldata @returns return data */
  readonly execute?: (input: Uint8Array) => Uint8Array | Promise<Uint8Array>;
  /** uniform in [0, 1); absent: the machine's, which no prover can foresee */
  readonly random?: () => number;
}

export type SpotCheck =
  | { readonly isChecked: false }
  | { readonly isChecked: true; readonly isRight: boolean; readonly output: Hex };

/** Runs the model again on some of the answers. What could not be run says nothing about the answer: it is thrown.
 *  @throws BaseError PROBABILITY_INVALID; what the executor throws, or `infer` */
export async function spotCheck(
  chain: Chain,
  { modelId }: Pick<Model, "modelId">,
  { presented }: Pick<SignedBytes, "presented">,
  { probability, execute, random = secureRandom }: SpotCheckOptions,
): Promise<SpotCheck> {
  if (!(probability >= 0 && probability <= 1)) {
    throw new BaseError({
      code: "PROBABILITY_INVALID",
      shortMessage: `The probability is ${probability}, must be 0 to 1.`,
      nextStep: "Give the share of answers that are to be run again.",
    });
  }
  if (random() >= probability) return { isChecked: false };
  const output =
    execute === undefined
      ? await inferOnChain(chain, modelId, presented.input)
      : toHex(await execute(fromHex(presented.input)));
  return { isChecked: true, isRight: output === presented.output, output };
}

function secureRandom(): number {
  const [word] = crypto.getRandomValues(new Uint32Array(1));
  return (word as number) / 2 ** 32;
}

/** What a challenger said. */
export interface Reported {
  readonly url: string;
  /** true: it has the signed claim, and runs it again */
  readonly isTaken: boolean;
  /** its answer, or why there is none */
  readonly answer: string;
}

/** Hands a signed claim to challengers: whoever finds it wrong opens it.
 *  @param urls of challengers that take POST /v1/signed-claims */
export async function report(
  chain: Pick<Chain, "deployment">,
  { presented }: Pick<SignedBytes, "presented">,
  urls: readonly string[],
  signal?: AbortSignal,
): Promise<readonly Reported[]> {
  const body = JSON.stringify(renderPresented(promisesOf(chain.deployment), presented));
  return Promise.all(
    urls.map(async (url): Promise<Reported> => {
      try {
        const response = await fetch(`${url.replace(/\/$/, "")}/v1/signed-claims`, {
          ...{ method: "POST", headers: { "Content-Type": "application/json" }, body },
          ...(signal === undefined ? {} : { signal }),
        });
        const answer = new TextDecoder().decode(await readAtMost(response, MAX_ERROR_BYTES));
        return { url, isTaken: response.ok, answer };
      } catch (error) {
        return { url, isTaken: false, answer: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
}
