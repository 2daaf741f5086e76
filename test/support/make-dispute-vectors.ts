/** `tsx test/support/make-dispute-vectors.ts` rewrites test/vectors/dispute.json and dispute-large.json:
 *  {"source": …, "vectors": [hex, …]}. test/support/dispute-vectors.ts documents the struct. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Hex } from "../../base/bytes.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { FAULTS, type Fault, largeDispute, randomDispute } from "./dispute-vectors.ts";

const SEED = 3;
const PER_FAULT = 6;
/** Hex digits: the committed file stays small. */
const MOST_DIGITS = 24_000;

function write(name: string, vectors: readonly Hex[]): void {
  const source = `test/support/make-dispute-vectors.ts, seed ${SEED}`;
  const lines = vectors.map((vector) => `  ${JSON.stringify(vector)}`).join(",\n");
  writeFileSync(
    join(projectRoot, "test", "vectors", `${name}.json`),
    `{"source": ${JSON.stringify(source)}, "vectors": [\n${lines}\n]}\n`,
  );
}

function disputes(fault: Fault): Hex[] {
  const vectors: Hex[] = [];
  for (let i = 0; vectors.length < PER_FAULT; i++) {
    // One in six has more steps than one reveal shows.
    const long = vectors.length % 6 === 5;
    const vector = randomDispute(1000 * SEED + 10 * i + FAULTS[fault], fault, long ? 70 : i % 6);
    if (vector !== undefined && (long || vector.length <= MOST_DIGITS)) vectors.push(vector);
  }
  return vectors;
}

write("dispute", (Object.keys(FAULTS) as Fault[]).flatMap(disputes));
write("dispute-large", [largeDispute(SEED)]);
