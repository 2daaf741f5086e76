/** What a person sets about an import, as it stands in the fields. */
import type { Lane } from "../../../../inference/manifest/assay.ts";
import type { ImportSettings } from "../../../../inference/onnx/import.ts";
import {
  type ArithmeticForm,
  DIM_FORM,
  INPUT_TYPE_FORM,
  type ProductForm,
  readDim,
  readInputType,
} from "../../../../inference/onnx/named-settings.ts";
import type { InputCodec, OutputCodec } from "../../../../inference/program/form.ts";
import { ApiFailure } from "../../data/api-failure.ts";

export interface Draft {
  readonly name: string;
  readonly nudge: boolean;
  readonly quantizedInputs: boolean;
  /** empty: what tool.json or the importer says */
  readonly products: ProductForm | "";
  /** empty: what tool.json or the importer says */
  readonly arithmetic: ArithmeticForm | "";
  /** empty: what tool.json or the importer says */
  readonly codec: InputCodec | "";
  readonly output: OutputCodec | "";
  readonly textBytes: string;
  /** texts of a setting for each line */
  readonly dims: string;
  readonly inputTypes: string;
  readonly keep: string;
  /** empty: what tool.json says */
  readonly claimed: string;
  readonly lanes: readonly Lane[] | undefined;
}

export const draftOf = (name: string): Draft => ({
  ...{ name, nudge: false, quantizedInputs: false, products: "", arithmetic: "", codec: "", output: "" },
  ...{ textBytes: "", dims: "", inputTypes: "", keep: "", claimed: "", lanes: undefined },
});

const lines = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

function read<T>(text: string, parse: (line: string) => T | undefined, form: string): T[] {
  return lines(text).map((line) => {
    const value = parse(line);
    if (value !== undefined) return value;
    throw new ApiFailure("ARGUMENT_INVALID", `${JSON.stringify(line)} cannot be used.`, `Write ${form}.`);
  });
}

/** @throws ApiFailure ARGUMENT_INVALID */
export function settingsOf(draft: Draft): ImportSettings {
  const { nudge, quantizedInputs, products, arithmetic, codec, output, textBytes } = draft;
  const { dims, inputTypes, keep, claimed } = draft;
  const types = read(inputTypes, readInputType, INPUT_TYPE_FORM);
  const kept = lines(keep);
  const [bytes] = read(textBytes, textBytesOf, TEXT_BYTES_FORM);
  return {
    ...(nudge ? { nudge } : {}),
    ...(quantizedInputs ? { quantizedInputs } : {}),
    ...(products === "" ? {} : { products }),
    ...(arithmetic === "" ? {} : { arithmetic }),
    ...(codec === "" ? {} : { codec }),
    ...(output === "" ? {} : { output }),
    ...(bytes === undefined ? {} : { textBytes: bytes }),
    ...(types.length === 0 ? {} : { inputTypes: new Map(types) }),
    ...(kept.length === 0 ? {} : { keep: kept }),
    ...(claimed.trim() === "" ? {} : { claimed: claimed.trim() }),
    dims: new Map(read(dims, readDim, DIM_FORM)),
  };
}

const TEXT_BYTES_FORM = "a number from 1 to 4096";
const textBytesOf = (text: string): number | undefined => {
  const bytes = Number(text);
  return Number.isInteger(bytes) && bytes >= 1 && bytes <= 4096 ? bytes : undefined;
};
