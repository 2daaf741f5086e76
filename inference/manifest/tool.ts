/** tool.json: what a person writes about a model; the rest of its manifest is computed. */

import { BaseError } from "../../base/errors.ts";
import type { Meaning } from "../meaning/form.ts";
import type { ImportSettings } from "../onnx/import.ts";
import {
  ARITHMETIC_FORMS,
  type ArithmeticForm,
  PRODUCT_FORMS,
  type ProductForm,
} from "../onnx/named-settings.ts";
import { INPUT_CODECS, type InputCodec, OUTPUT_CODECS, type OutputCodec } from "../program/form.ts";
import type { Lane, Manifest } from "./assay.ts";
import { LANES } from "./assay.ts";
import type { NumberEntry } from "./numbers.ts";

/** Descriptive fields of the manifest, and how the model is imported. */
export interface ToolDescription extends Omit<Manifest, "container_image" | "assay"> {
  readonly import?: {
    readonly codec?: InputCodec;
    readonly output?: OutputCodec;
    readonly textBytes?: number;
    readonly dims?: Readonly<Record<string, number>>;
    readonly nudge?: boolean;
    readonly products?: ProductForm;
    readonly arithmetic?: ArithmeticForm;
    readonly inputTypes?: Readonly<Record<string, string>>;
    readonly quantizedInputs?: boolean;
    readonly keep?: readonly string[];
    readonly claimed?: string;
  };
  /** Default: BOND. */
  readonly lanes?: readonly Lane[];
  readonly windowSeconds?: { readonly default: number; readonly local: number };
  /** By input of the ONNX file: what each of its numbers is called, and from where to where it goes. */
  readonly numbers?: Readonly<Record<string, readonly NumberEntry[]>>;
  /** How people read the output. */
  readonly meaning?: Meaning;
}

export const DEFAULT_LANES: readonly Lane[] = ["BOND"];
const IMPORT_KEYS: readonly string[] = [
  "codec",
  "output",
  "textBytes",
  "dims",
  "nudge",
  "products",
  "arithmetic",
  "inputTypes",
  "quantizedInputs",
  "keep",
  "claimed",
];
export const DEFAULT_WINDOWS = { default: 3600, local: 60 } as const;

/** Problems of the fields that no manifest has; the others are checked with the manifest. */
export function toolFaults(tool: ToolDescription): string[] {
  const faults: string[] = [];
  const { codec, output, textBytes } = tool.import ?? {};
  for (const key of Object.keys(tool.import ?? {}))
    if (!IMPORT_KEYS.includes(key))
      faults.push(`$.import.${key}: is no setting; there are ${IMPORT_KEYS.join(", ")}`);
  if (codec !== undefined && !INPUT_CODECS.includes(codec))
    faults.push(`$.import.codec: must be one of ${INPUT_CODECS.join(", ")}`);
  if (output !== undefined && !OUTPUT_CODECS.includes(output))
    faults.push(`$.import.output: must be one of ${OUTPUT_CODECS.join(", ")}`);
  if (textBytes !== undefined && !(Number.isInteger(textBytes) && textBytes >= 1 && textBytes <= 4096)) {
    faults.push("$.import.textBytes: must be 1 to 4096");
  }
  const { keep, products, arithmetic } = tool.import ?? {};
  if (products !== undefined && !PRODUCT_FORMS.includes(products))
    faults.push(`$.import.products: must be one of ${PRODUCT_FORMS.join(", ")}`);
  if (arithmetic !== undefined && !ARITHMETIC_FORMS.includes(arithmetic))
    faults.push(`$.import.arithmetic: must be one of ${ARITHMETIC_FORMS.join(", ")}`);
  if (keep !== undefined && !(Array.isArray(keep) && keep.every((name) => typeof name === "string"))) {
    faults.push("$.import.keep: must be a list of outputs' names");
  }
  if (tool.import?.claimed !== undefined && typeof tool.import.claimed !== "string")
    faults.push("$.import.claimed: must be an input's name");
  for (const lane of tool.lanes ?? [])
    if (!LANES.includes(lane)) faults.push(`$.lanes: must be of ${LANES.join(", ")}`);
  return faults;
}

/** @param name of the file, for errors @throws TOOL_INVALID */
export function checkedTool(value: unknown, name: string): ToolDescription {
  const faults =
    typeof value !== "object" || value === null || !Array.isArray((value as { abi?: unknown }).abi)
      ? ["$: must be an object with name, description, version and abi"]
      : toolFaults(value as ToolDescription);
  if (faults.length === 0) return value as ToolDescription;
  throw new BaseError({
    code: "TOOL_INVALID",
    shortMessage: `${name} breaks ${faults.length} rule(s): ${faults.join("; ")}.`,
    nextStep: "Correct the file; models/sentiment/tool.json is an example.",
    details: { problems: faults },
  });
}

export function importSettings(tool: ToolDescription): ImportSettings {
  const { dims, inputTypes, ...rest } = tool.import ?? {};
  return {
    ...rest,
    ...(dims === undefined ? {} : { dims: new Map(Object.entries(dims)) }),
    ...(inputTypes === undefined ? {} : { inputTypes: new Map(Object.entries(inputTypes)) }),
  };
}

/** A description for a file that has none: one function `infer` with the codec's types. */
export function defaultTool(
  name: string,
  input: InputCodec,
  output: OutputCodec,
  words: number,
): ToolDescription {
  const argument = { type: "bytes", name: "input" };
  const inputs = {
    text: [{ name: "text", type: "string" }],
    prices: ["closes", "highs", "lows"].map((n) => ({ name: n, type: "uint256[]" })),
    int16s: [{ name: "int16s", type: "uint256[]" }],
    raw: [argument],
  }[input];
  const outputs = {
    words: [{ name: "values", type: words === 1 ? "int256" : `int256[${words}]` }],
    int16s: [{ name: "values", type: "uint256[]" }],
    raw: [{ name: "output", type: "bytes" }],
  }[output];
  const description = `Output of the model ${name} on the given input`;
  return {
    name,
    description: `${description}, as one function of bytes.`,
    version: "0.1.0",
    abi: [{ type: "function", name: "infer", description, inputs, outputs }],
  };
}
