/** An output as commands print it: what it means, where the model's manifest says that, and then its values. */
import { fromHex, type Hex } from "../base/bytes.ts";
import { meaningOf, type Reading } from "../inference/meaning/read.ts";
import { decodeReturn } from "../protocol/rules/abi.ts";
import type { RegisteredModel } from "./model-source.ts";

export interface ShownOutput {
  readonly meaning?: Reading;
  /** by name */
  readonly values: Readonly<Record<string, unknown>>;
}

/** @throws BaseError OUTPUT_INVALID */
export const showOutput = (
  { function: called, readable }: Pick<RegisteredModel, "function" | "readable">,
  output: Hex,
): ShownOutput => ({ ...meaningOf(readable, fromHex(output)), values: decodeReturn(called, output) });

export const outputLines = ({ meaning, values }: ShownOutput): readonly string[] => [
  ...(meaning === undefined ? [] : [meaning.text]),
  ...Object.entries(values).map(([name, value]) => `${name} = ${String(value)}`),
];

/** The same in one line. */
export function outputLine({ meaning, values }: ShownOutput): string {
  const numbers = Object.entries(values).map(([name, value]) => `${name} ${String(value)}`);
  return meaning === undefined ? numbers.join(", ") : `${meaning.text}: ${numbers.join(", ")}`;
}
