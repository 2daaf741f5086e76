/** `tsx test/support/make-meaning-vectors.ts` writes test/vectors/meanings.json: manifests' sections, outputs, and what
 *  the reader makes of them, null for an output that it refuses. Other languages read them the same. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { toHex } from "../../base/bytes.ts";
import type { Readable } from "../../inference/meaning/form.ts";
import { meaningIfAny, type Reading } from "../../inference/meaning/read.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { meaningCases } from "./meanings.ts";

export const MEANING_VECTORS = join(projectRoot, "test/vectors/meanings.json");

export interface MeaningVector {
  readonly section: Readable;
  readonly output: string;
  readonly reading: Reading | null;
}

export function makeMeaningVectors(): MeaningVector[] {
  return fc.sample(meaningCases, { seed: 20_20, numRuns: 150 }).flatMap(({ section, output }, i) => {
    const changed = output.slice();
    const at = (i * 37) % output.length;
    changed[at] = (changed[at] ?? 0) ^ 1;
    const outputs = i % 3 === 0 ? [output, changed, output.slice(0, -1)] : [output];
    return outputs.map((bytes) => ({
      section,
      output: toHex(bytes),
      reading: meaningIfAny(section, bytes).meaning ?? null,
    }));
  });
}

if (process.argv[1] === import.meta.filename) {
  const lines = makeMeaningVectors().map((vector) => JSON.stringify(vector));
  writeFileSync(MEANING_VECTORS, `[\n${lines.join(",\n")}\n]\n`);
}
