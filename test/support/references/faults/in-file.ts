/** One fault in one file of the importer's lowering. */
import type { Mutant } from "../../../../tools/mutant.ts";

type Edit = readonly [name: string, from: string, to: string];

/** Faults of a file of inference/onnx/lower/. @returns makes them: the reference that must find them, and the edits */
export const inFile =
  (file: string) =>
  (caughtBy: string, ...edits: readonly Edit[]): Mutant[] =>
    edits.map(([name, from, to]) => ({
      name: `${caughtBy}: ${name}`,
      caughtBy,
      edits: [{ file: `inference/onnx/lower/${file}`, from, to }],
    }));
