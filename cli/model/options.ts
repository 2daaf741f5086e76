import type { Command } from "commander";
import type { ImportSettings } from "../../inference/onnx/import.ts";
import {
  ARITHMETIC_FORMS,
  type ArithmeticForm,
  DIM_FORM,
  INPUT_TYPE_FORM,
  PRODUCT_FORMS,
  type ProductForm,
  readDim,
  readInputType,
} from "../../inference/onnx/named-settings.ts";
import {
  INPUT_CODECS,
  type InputCodec,
  OUTPUT_CODECS,
  type OutputCodec,
} from "../../inference/program/form.ts";
import { refuseArgument } from "../output.ts";

export interface ImportFlags {
  readonly codec?: string;
  readonly output?: string;
  readonly dim: readonly string[];
  readonly textBytes?: string;
  readonly nudge?: boolean;
  readonly products?: string;
  readonly arithmetic?: string;
  readonly inputType: readonly string[];
  readonly quantizedInputs?: boolean;
  readonly keep: readonly string[];
  readonly claimed?: string;
}

export function withImportOptions(command: Command): Command {
  return command
    .option("--codec <name>", `how calldata becomes inputs: ${INPUT_CODECS.join(", ")} (default raw)`)
    .option("--output <name>", `how outputs become return data: ${OUTPUT_CODECS.join(", ")}`)
    .option("--dim <NAME=N>", "size of a symbolic dim (default 1); repeatable", collect, [])
    .option(
      "--input-type <NAME=TYPE>",
      "give an int64 input as int32, or a float32 one that QuantizeLinear reads as its bytes; repeatable",
      collect,
      [],
    )
    .option("--quantized-inputs", "drop the QuantizeLinear of each input, so that bytes are the input")
    .option("--text-bytes <n>", "most bytes of a text, for --codec text (default 1024)")
    .option("--keep <output>", "only this output of the graph; repeatable (default all)", collect, [])
    .option("--claimed <input>", "the input of the graph that is the claimed output, not a part of calldata")
    .option("--nudge", "move weight scales by at most 1e-3 where that gives the integer form")
    .option(
      "--products <form>",
      `how products of two computed tensors are lowered: ${PRODUCT_FORMS.join(", ")} (default auto: by size)`,
    )
    .option(
      "--arithmetic <form>",
      `how Softmax, normalizations and sums of quantized tensors are computed: ${ARITHMETIC_FORMS.join(", ")} (default float32)`,
    );
}

export const collect = (value: string, all: readonly string[]): string[] => [...all, value];

/** @throws ARGUMENT_INVALID */
export function importSettingsOf(flags: ImportFlags): ImportSettings {
  const { codec, output, textBytes, nudge, products, arithmetic, claimed } = flags;
  if (codec !== undefined && !INPUT_CODECS.includes(codec as InputCodec))
    refuseArgument("--codec", codec, INPUT_CODECS.join(", "));
  if (output !== undefined && !OUTPUT_CODECS.includes(output as OutputCodec)) {
    refuseArgument("--output", output, OUTPUT_CODECS.join(", "));
  }
  if (products !== undefined && !PRODUCT_FORMS.includes(products as ProductForm)) {
    refuseArgument("--products", products, PRODUCT_FORMS.join(", "));
  }
  if (arithmetic !== undefined && !ARITHMETIC_FORMS.includes(arithmetic as ArithmeticForm)) {
    refuseArgument("--arithmetic", arithmetic, ARITHMETIC_FORMS.join(", "));
  }
  const bytes = textBytes === undefined ? undefined : Number(textBytes);
  if (bytes !== undefined && !(Number.isInteger(bytes) && bytes >= 1 && bytes <= 4096)) {
    refuseArgument("--text-bytes", textBytes, "a number from 1 to 4096");
  }
  const dims = new Map(flags.dim.map((text) => readDim(text) ?? refuseArgument("--dim", text, DIM_FORM)));
  const inputTypes = new Map(
    flags.inputType.map(
      (text) => readInputType(text) ?? refuseArgument("--input-type", text, INPUT_TYPE_FORM),
    ),
  );
  return {
    ...(inputTypes.size === 0 ? {} : { inputTypes }),
    ...(flags.quantizedInputs === undefined ? {} : { quantizedInputs: flags.quantizedInputs }),
    ...(codec === undefined ? {} : { codec: codec as InputCodec }),
    ...(output === undefined ? {} : { output: output as OutputCodec }),
    ...(bytes === undefined ? {} : { textBytes: bytes }),
    ...(nudge === undefined ? {} : { nudge }),
    ...(products === undefined ? {} : { products: products as ProductForm }),
    ...(arithmetic === undefined ? {} : { arithmetic: arithmetic as ArithmeticForm }),
    ...(claimed === undefined ? {} : { claimed }),
    ...(flags.keep.length === 0 ? {} : { keep: flags.keep }),
    dims,
  };
}
