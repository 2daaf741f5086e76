/** Signed answers by the dozen: many inputs in one request, of which each answer is taken as `askSigned` takes one. */
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { jsonOf, parseJson } from "../../base/json.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { decodeCall, encodeCall } from "../../protocol/rules/abi.ts";
import { ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { post, wrong } from "./ask-prover.ts";
import type { Model, Values } from "./model.ts";
import { named, requireTaken, type SignedOutput, type SignedTerms } from "./signed.ts";

/** Inputs that a prover takes in one request, unless its operator lets fewer runs be under way (`--max-runs`). */
const INPUTS = 64;
/** Of an answer in JSON beside its input and output. */
const FIELDS_BYTES = 8_192;

/** Asks a prover, many inputs in each request, one request after another.
 *  @param inputs values by name @returns in the order of the inputs
 *  @throws BaseError as askSigned does, for the first that is not taken: what came before it is not given either */
export async function askSignedMany(
  chain: Chain,
  model: Model,
  inputs: readonly Values[],
  terms: SignedTerms,
): Promise<readonly SignedOutput[]> {
  const taken: SignedOutput[] = [];
  // Before the first is bought.
  const encoded = inputs.map((values) => encodeCall(model.function, values));
  for (let from = 0; from < inputs.length; from += INPUTS) {
    const asked = encoded.slice(from, from + INPUTS);
    const answers = await fetchAnswers(model, asked, terms);
    const signed = await Promise.all(answers.map((answer) => requireTaken(chain, model, answer, terms)));
    taken.push(...signed.map((one) => named(model, one)));
  }
  return taken;
}

/** @returns JSON of signed claims, as many as inputs and of these inputs
 *  @throws BaseError PROVER_REFUSED, SIGNED_CLAIM_WRONG */
async function fetchAnswers(
  { modelId, word, function: called }: Model,
  encoded: readonly Hex[],
  terms: SignedTerms,
): Promise<readonly object[]> {
  const { url, batch = false, requester = ZERO_ADDRESS } = terms;
  const place = `${url.replace(/\/$/, "")}/v1/tools/${modelId}/signed-claims?batch=${batch}&requester=${requester}`;
  // As JSON has them: a caller's may be bytes.
  const inputs = encoded.map((input) => decodeCall(called, input));
  const body = new TextEncoder().encode(jsonOf({ inputs }));
  // Output and input as hex, and the output by name.
  const longest = encoded.reduce(
    (sum, input) => sum + FIELDS_BYTES + input.length + 16 * word.outputLength,
    FIELDS_BYTES,
  );
  const answer = await post(place, { type: "application/json", body, longest }, terms);
  const { answers } = (readAnswer(answer.body) ?? {}) as { readonly answers?: unknown };
  if (!Array.isArray(answers) || answers.length !== encoded.length)
    throw wrong(`it has no list of ${encoded.length} answers`);
  return answers.map((one: { readonly signedClaim?: object } | null, index) => {
    const signed = one?.signedClaim as { readonly input?: unknown } | undefined;
    if (typeof signed !== "object" || signed === null || signed.input !== encoded[index])
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
