/** Signed answers by the dozen: many inputs in one request, of which each answer is taken as `askSigned` takes one. */
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { parseJson } from "../../base/json.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { post, wrong } from "./ask-prover.ts";
import type { Model, Values } from "./model.ts";
import { named, requireTaken, type SignedOutput, type SignedTerms } from "./signed.ts";

export interface ManySignedTerms extends SignedTerms {
  /** at most; default 64, which a prover takes unless its operator lets fewer runs or requests through */
  readonly inputsPerRequest?: number;
}

const INPUTS = 64;
/** Of the calldata of a request as hexadecimal text, unless one input alone has more. */
const MAX_HEX = 250_000;
/** Of an answer in JSON beside its input and output. */
const FIELDS_BYTES = 8_192;

/** Asks a prover, many inputs in each request, one request after another.
 *  @param inputs values by name @returns in the order of the inputs
 *  @throws BaseError as askSigned does: where one answer is not taken none is given */
export async function askSignedMany(
  chain: Chain,
  model: Model,
  inputs: readonly Values[],
  terms: ManySignedTerms,
): Promise<readonly SignedOutput[]> {
  const taken: SignedOutput[] = [];
  // Before the first is bought.
  const encoded = inputs.map((values) => encodeCall(model.function, values));
  for (const asked of grouped(encoded, terms.inputsPerRequest ?? INPUTS)) {
    const answers = await fetchAnswers(model, asked, terms);
    const signed = await Promise.all(answers.map((answer) => requireTaken(chain, model, answer, terms)));
    taken.push(...signed.map((one) => named(model, one)));
  }
  return taken;
}

/** In their order, as many together as one request takes. */
function grouped(encoded: readonly Hex[], most: number): readonly (readonly Hex[])[] {
  const groups: Hex[][] = [];
  let length = 0;
  for (const input of encoded) {
    const last = groups.at(-1);
    if (last === undefined || last.length >= most || length + input.length > MAX_HEX) {
      groups.push([input]);
      length = input.length;
    } else {
      last.push(input);
      length += input.length;
    }
  }
  return groups;
}

/** @returns JSON of signed claims, as many as inputs and of these inputs
 *  @throws BaseError PROVER_REFUSED, SIGNED_CLAIM_WRONG */
async function fetchAnswers(
  { modelId, word }: Model,
  calldata: readonly Hex[],
  terms: SignedTerms,
): Promise<readonly object[]> {
  const { url, batch = false, requester = ZERO_ADDRESS } = terms;
  const place = `${url.replace(/\/$/, "")}/v1/tools/${modelId}/signed-claims?batch=${batch}&requester=${requester}`;
  const body = new TextEncoder().encode(JSON.stringify({ calldata }));
  const longest = calldata.reduce(
    (sum, input) => sum + FIELDS_BYTES + input.length + 2 * word.outputLength,
    FIELDS_BYTES,
  );
  const answer = await post(place, { type: "application/json", body, longest }, terms);
  const { answers } = (readAnswer(answer.body) ?? {}) as { readonly answers?: unknown };
  if (!Array.isArray(answers) || answers.length !== calldata.length)
    throw wrong(`it has no list of ${calldata.length} answers`);
  return answers.map((one: { readonly signedClaim?: object } | null, index) => {
    const signed = one?.signedClaim as { readonly input?: unknown } | undefined;
    if (typeof signed !== "object" || signed === null || signed.input !== calldata[index])
      throw wrong(`answer ${index} has no signed claim of input ${index}`);
    return signed;
  });
}

function readAnswer(body: Uint8Array): unknown {
  try {
    return parseJson(body, "the answer");
  } catch (error) {
    throw error instanceof BaseError ? wrong(error.shortMessage.slice(0, -1)) : error;
  }
}
