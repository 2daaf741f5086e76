import { BaseError } from "../../../base/errors.ts";
import { RefusedImport } from "../../../inference/onnx/refused-import.ts";
import type { Refusal } from "./forms.ts";

/** An error of the import as a value, which crosses from a worker whole. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof RefusedImport) {
    const { code, nextStep, parts } = error;
    const { nodes, total } = parts;
    const message = `${nodes.length} of ${total} nodes cannot be lowered to a program.`;
    return { code, message, nextStep, parts };
  }
  if (error instanceof BaseError) {
    return { code: error.code, message: error.shortMessage, nextStep: error.nextStep };
  }
  // What engines throw where they cannot allocate.
  if (error instanceof RangeError) {
    const nextStep = "Import it with `assay model import`, or close other pages.";
    return {
      code: "MEMORY_FULL",
      message: `This browser has too little memory: ${error.message}.`,
      nextStep,
    };
  }
  const message = `Unexpected error: ${error instanceof Error ? error.message : String(error)}`;
  return { code: "UNEXPECTED", message, nextStep: "Report it with the file; it is a fault of this program." };
}
