/** Calldata of what a person typed; loaded when the first question is asked. */
import type { Hex } from "viem";
import { writeInt16s } from "../../../../inference/codecs/int16s.ts";
import type { InputCodec } from "../../../../inference/program/form.ts";
import { CODEC_INPUTS, encodeCall, type ModelFunction } from "../../../../protocol/rules/abi.ts";
import type { Model } from "../../../api/types.ts";
import { fieldsOf, type Value } from "./inputs.ts";

/** Sixteen 16-bit numbers a word. */
function wordsOf(numbers: readonly number[]): bigint[] {
  const bytes = writeInt16s(numbers);
  const view = new DataView(bytes.buffer);
  return Array.from({ length: bytes.length / 32 }, (_, word) =>
    Array.from({ length: 4 }, (_, i) => view.getBigUint64(32 * word + 8 * i)).reduce(
      (all, part) => (all << 64n) | part,
      0n,
    ),
  );
}

/** @throws BaseError INPUTS_INVALID */
export function encodeDraft(model: Model, values: ReadonlyMap<string, Value>): Hex {
  const codec = model.inputCodec as InputCodec;
  const inputs = CODEC_INPUTS[codec];
  const called: ModelFunction = { selector: model.selector as Hex, inputs, outputs: [] };
  if (codec === "int16s") {
    const numbers = fieldsOf(model).flatMap(({ name }) => values.get(name) as readonly number[]);
    return encodeCall(called, { int16s: wordsOf(numbers) });
  }
  const given = [...values.values()];
  return encodeCall(called, Object.fromEntries(inputs.map(({ name }, i) => [name, given[i]])));
}
