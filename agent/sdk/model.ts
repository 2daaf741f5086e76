/** A registered model as an agent calls it: values by name in, values by name out. */
import type { Hex } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import { type AbiFunction, selectorOf } from "../../inference/manifest/abi.ts";
import { Checker } from "../../inference/manifest/problems.ts";
import { checkMeaning } from "../../inference/meaning/check.ts";
import type { Meaning, Readable } from "../../inference/meaning/form.ts";
import { meaningOf, type Reading } from "../../inference/meaning/read.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { inferOnChain } from "../../protocol/chain/execution/infer.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import { decodeReturn, encodeCall, functionOfWord, type ModelFunction } from "../../protocol/rules/abi.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import type { ModelWord } from "../../protocol/rules/words.ts";
import type { Tensors } from "../plain-values.ts";

/** The part of a model's manifest that gives its parameters their names and types. */
export interface ModelManifest {
  readonly description: string;
  readonly abi: readonly AbiFunction[];
  readonly assay: {
    readonly modelId: Hex;
    readonly selector: Hex;
    readonly meaning?: Meaning;
  } & Partial<Tensors>;
}

export interface Model {
  readonly modelId: ModelId;
  readonly function: ModelFunction;
  /** "" for a model of which only the id is known */
  readonly description: string;
  /** as registered: lanes, lengths, codecs */
  readonly word: ModelWord;
  /** the numbers that the codecs pack, as the manifest names them */
  readonly tensors?: Tensors;
  /** how its output is read, where the manifest says that */
  readonly readable?: Readable;
}

export type Values = Readonly<Record<string, unknown>>;

/** @param source an id, whose function is then the codecs' own, or the model's manifest
 *  @throws BaseError MODEL_UNKNOWN, MANIFEST_INVALID; faults of the node */
export async function openModel(chain: Chain, source: Hex | ModelManifest): Promise<Model> {
  const isId = typeof source === "string";
  const modelId = (isId ? source : source.assay.modelId) as ModelId;
  const word = await new StateReader(chain).model(modelId);
  if (word === undefined) {
    throw new BaseError({
      code: "MODEL_UNKNOWN",
      shortMessage: `Model ${modelId} is not registered on chain ${chain.game.chainId}.`,
      nextStep: "Check the id and the deployment.",
    });
  }
  const codecs = functionOfWord(word);
  if (isId) return { modelId, function: codecs, description: "", word };
  const declared = source.abi.find((entry) => toHex(selectorOf(entry)) === codecs.selector);
  if (declared === undefined) {
    throw new BaseError({
      code: "MANIFEST_INVALID",
      shortMessage: `The manifest of model ${modelId} has no function with the registered selector ${codecs.selector}.`,
      nextStep: "Take the manifest that belongs to the model; a prover serves it as manifest.json.",
    });
  }
  const { inputs, outputs } = source.assay;
  return {
    modelId,
    function: { ...declared, selector: codecs.selector },
    description: source.description,
    word,
    ...(inputs === undefined || outputs === undefined ? {} : { tensors: { inputs, outputs } }),
    ...readableOf(source, word),
  };
}

/** The manifest comes from anywhere: what it says for people is checked against what is registered. */
function readableOf({ assay: { modelId, meaning, outputs = [] } }: ModelManifest, word: ModelWord) {
  if (meaning === undefined) return {};
  const { outputCodec, outputLength } = word;
  const readable: Readable = { meaning, codec: { output: outputCodec }, outputLength, outputs };
  const check = new Checker();
  checkMeaning(check, { ...readable }, "$.assay");
  if (check.errors.length === 0) return { readable };
  const faults = check.errors.map(({ path, message }) => `${path}: ${message}`);
  throw new BaseError({
    code: "MANIFEST_INVALID",
    shortMessage: `The manifest of model ${modelId} says what its output means in a form that is not valid: ${faults.join("; ")}.`,
    nextStep: "Correct it, or leave `meaning` out: nothing that is computed depends on it.",
    details: { problems: faults },
  });
}

/** What an output says, by the model's manifest; for display only. @param output return data
 *  @throws BaseError OUTPUT_INVALID */
export const readingOf = ({ readable }: Pick<Model, "readable">, output: Hex): Reading | undefined =>
  meaningOf(readable, fromHex(output)).meaning;

/** The model's output, computed by the chain in one call: final at once, without a request.
 *  @throws BaseError INPUTS_INVALID, WEIGHTS_NOT_PUBLISHED, EXECUTION_REFUSED, LANE_UNAVAILABLE; faults of the node */
export async function infer(chain: Chain, model: Model, values: Values): Promise<Values> {
  return decodeReturn(model.function, await inferBytes(chain, model, values));
}

/** The same as return data, which `readingOf` reads. @throws BaseError as infer does */
export const inferBytes = (chain: Chain, model: Model, values: Values): Promise<Hex> =>
  inferOnChain(chain, model.modelId, encodeCall(model.function, values));
