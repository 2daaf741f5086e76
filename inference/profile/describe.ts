import { INPUT_CODEC_CODES, nameOf, variantName } from "../program/codes.ts";
import type { Step } from "../program/form.ts";

/** One line: `dot integer u8 [1, 12]`. */
export function describeOperation({ opcode, variant, type, dims }: Step): string {
  const form = variantName(opcode, variant) ?? (opcode === "codec" && nameOf(INPUT_CODEC_CODES, variant));
  return `${form ? `${opcode} ${form}` : opcode} ${type} [${dims.join(", ")}]`;
}
