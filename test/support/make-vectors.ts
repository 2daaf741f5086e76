/** Writes the vectors that forge tests read: {"source": …, "vectors": [hex, …]}, one file an opcode and one each for
 *  codecs, outputs, calldata, programs, reveals and whole runs. test/support/vectors.ts documents the structs.
 *
 *  `tsx test/support/make-vectors.ts` rewrites test/vectors/ (small, committed).
 *  `tsx test/support/make-vectors.ts --elements 2000 --seed 7 --out build/vectors` writes as many elements an opcode
 *  as asked, of programs of any size. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { Hex } from "../../base/bytes.ts";
import { variantsOf } from "../../inference/program/codes.ts";
import { OPCODES, type Opcode } from "../../inference/program/form.ts";
import { claimedProgramVectors, claimedVector } from "./claimed-vectors.ts";
import { createRng } from "./rng.ts";
import {
  calldataVectors,
  codecVectors,
  elementVector,
  lastVariant,
  outputVector,
  programVectors,
  revealVectors,
  runVector,
} from "./vectors.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const { values: flags } = parseArgs({
  options: { elements: { type: "string" }, seed: { type: "string" }, out: { type: "string" } },
});
const large = flags.elements !== undefined;
const elements = Number(flags.elements ?? 72);
const seed = Number(flags.seed ?? 1);
const out = join(root, flags.out ?? "test/vectors");
if (!(Number.isInteger(elements) && elements >= 1 && Number.isInteger(seed) && seed >= 0)) {
  throw new Error("usage: make-vectors.ts [--elements COUNT] [--seed NUMBER] [--out FOLDER]");
}

/** Cases of one program, and the most bytes of its blob in the committed set. */
const CASES = large ? 16 : 3;
const MOST_BYTES = 5_000;

function elementVectors(opcode: Opcode): Hex[] {
  const rng = createRng(seed * 1000 + OPCODES.indexOf(opcode));
  const variants = variantsOf(opcode);
  const options = large ? {} : { steps: 0 };
  const vectors: Hex[] = [];
  const programs = Math.ceil(elements / CASES);
  while (vectors.length < programs) {
    // Kinds (honest, hostile, lying) follow seed mod 3, variants the number of the vector.
    const i = vectors.length;
    const candidate = 3 * rng.int(0, 2 ** 30) + ((i + Math.floor(i / variants.length)) % 3);
    if (lastVariant(candidate, opcode, options) !== variants[i % variants.length]) continue;
    const vector = elementVector(candidate, opcode, CASES, options);
    if (large || i % 12 === 11 || vector.length <= 2 * MOST_BYTES) vectors.push(vector);
  }
  return vectors;
}

function collect(least: number, make: (seed: number) => readonly Hex[]): Hex[] {
  const rng = createRng(seed * 1000 + 500);
  const vectors: Hex[] = [];
  for (let i = 0; vectors.length < least; i++) {
    const made = make(4 * rng.int(0, 2 ** 30) + (i % 4));
    if (large || made.every((vector) => vector.length <= 4 * MOST_BYTES)) vectors.push(...made);
  }
  return vectors;
}

/** Whole runs of programs that end with an opcode, of every kind and every variant of it. Many more are run by
 *  test/protocol/chain/execution/programs.test.ts. */
function runVectors(opcode: Opcode, index: number): Hex[] {
  const rng = createRng(seed * 1000 + 600 + index);
  const vectors: Hex[] = [];
  // Compiled layers are of DOT steps.
  const count = opcode === "dot" ? 12 : 4;
  while (vectors.length < count) {
    const options = { steps: rng.int(0, 2) };
    const vector = runVector(3 * rng.int(0, 2 ** 30) + (vectors.length % 3), opcode, options);
    if (vector.length <= 2 * MOST_BYTES) vectors.push(vector);
  }
  return vectors;
}

function write(name: string, vectors: readonly Hex[]): void {
  const source = `test/support/make-vectors.ts, seed ${seed}`;
  const lines = vectors.map((vector) => `  ${JSON.stringify(vector)}`).join(",\n");
  writeFileSync(
    join(out, `${name}.json`),
    `{"source": ${JSON.stringify(source)}, "vectors": [\n${lines}\n]}\n`,
  );
}

mkdirSync(out, { recursive: true });
for (const opcode of OPCODES) if (opcode !== "codec") write(opcode, elementVectors(opcode));
const whole = large ? 256 : 48;
write("codec", collect(whole, codecVectors));
write(
  "claimed",
  Array.from({ length: whole }, (_, i) => claimedVector(1_000 * seed + i)),
);
write(
  "output",
  collect(whole, (s) => [outputVector(s)]),
);
write("calldata", collect(whole, calldataVectors));
write("program", [...collect(3 * whole, programVectors), ...collect(whole, claimedProgramVectors)]);
write("reveal", collect(whole, revealVectors));
if (!large) {
  write(
    "run",
    OPCODES.flatMap((opcode, i) => runVectors(opcode, i)),
  );
}
