/** Checks that a packed word's fields are taken by name: no contract shifts by a literal, nor reads a byte by a literal
 *  number, but where that is no field.
 *
 *  A literal is a field's offset unless
 *  - it is below 8: multiplying or dividing by up to 128, as bytes from words;
 *  - it is 256: all but some bytes of a word;
 *  - it is byte 0, the first of what was just loaded;
 *  - it stands in the value of a constant, which is a name for it;
 *  - its file computes with lanes or writes code, and is listed below with the reason; but a literal shift under a
 *    literal mask, as `and(shr(80, word), 0xFF)`, is a field there too. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "./foundry.ts";
import { listFiles } from "./tracked-files.ts";

const CONTRACT = /^verifier-contracts\/(?!generated\/).*\.sol$/;
const LEAST = 8;
const WORD_BITS = 256;

/** Files whose shifts are no fields. */
export const NO_FIELDS: Readonly<Record<string, string>> = {
  "libraries/DotLanes.sol": "SIMD lanes of 32 bits, and sums of bytes in them",
  "libraries/Swar.sol": "SIMD lanes of 32 bits, side by side",
  "libraries/Transpose.sol": "blocks of lanes that change places",
  "opcodes/Dot.sol": "SIMD lanes of 32 bits: a product of polynomials",
  "opcodes/DotActivations.sol": "SIMD lanes of 32 bits: a product of polynomials",
  "opcodes/Lookup.sol": "lanes of 16 and 32 bits: sums of bytes",
  "opcodes/Reduce.sol": "lanes of 16, 32 and 64 bits: sums of bytes",
  "opcodes/codecs/Int16s.sol": "SIMD lanes of 16 bits spread to 32, and back",
  "opcodes/codecs/Prices.sol": "sums of returns, 32 bits apart",
  "opcodes/codecs/Raw.sol": "bytes of every four reversed",
  "opcodes/codecs/Text.sol": "bytes of a text, compared and cut",
  "execution/plan/PlanLookup.sol": "the next of eight ids in a word",
  "execution/plan/PlanWords.sol": "SIMD lanes of 32 bits: a sign spread over its lane",
  "execution/compiled/Rows.sol": "SIMD lanes of 24 bits, and instructions that push them",
  "execution/compiled/Emit.sol": "EVM code, byte by byte",
  "execution/compiled/Finish.sol": "EVM code, byte by byte",
  "execution/compiled/CompiledLayer.sol": "RLP, and what CREATE2 hashes",
  "execution/LayerBuilder.sol": "creation code, byte by byte",
  "libraries/Directory.sol": "what CREATE2 hashes",
  "libraries/Orders.sol": "the home of orders: a string of bytes, cut where it is read",
  "proof/PublicSignals.sol": "31 bytes of 32: a signal is below the field's modulus",
  "proof/SignalFields.sol": "fields of signals spread from 16 to 32 bits",
  "proof/EzklProof.sol": "16-bit numbers of a word, one after another",
  "proof/ProofLane.sol": "hashes cut to 248 and to 128 bits",
  "agents/policy/Clause.sol": "the home of a clause's range: where it begins and ends",
};

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** Literals that are fields' offsets in a contract's text.
 *  @param file path from the repository's root */
export function fieldLiterals(file: string, text: string): Finding[] {
  if (!CONTRACT.test(file)) return [];
  const isListed = file.slice("verifier-contracts/".length) in NO_FIELDS;
  // Comments and constants become blanks: lines keep their numbers.
  const code = text.replace(
    /\/\*[\s\S]*?\*\/|\/\/[^\n]*|\bconstant\s+\w+\s*=[^;]*;|"(?:[^"\\\n]|\\.)*"/g,
    (found) => found.replace(/[^\n]/g, " "),
  );
  const number = "(0x[0-9a-fA-F]+|\\d[\\d_]*)\\b";
  const shifts = new RegExp(
    `\\b(?:shl|shr|sar)\\(\\s*${number}\\s*,|\\bbyte\\(\\s*${number}\\s*,|(?:<<|>>)=?\\s*\\(?\\s*${number}(?!\\s*\\*)`,
    "g",
  );
  const findings: Finding[] = [];
  for (const { index, 0: found, 1: shift, 2: byte, 3: operator } of code.matchAll(shifts)) {
    const amount = Number((shift ?? byte ?? operator ?? "").replaceAll("_", ""));
    if (amount < (byte === undefined ? LEAST : 1) || amount >= WORD_BITS) continue;
    if (isListed && !isMasked(code, index)) continue;
    findings.push({ file, line: code.slice(0, index).split("\n").length, text: found });
  }
  return findings;
}

/** True if what is shifted at this place is masked by a literal right there. */
function isMasked(code: string, index: number): boolean {
  const assembly =
    /and\(\s*$/.test(code.slice(0, index)) && /^\w+\([^()]*\)\s*,\s*0x/.test(code.slice(index));
  return assembly || /^(?:<<|>>)\s*\d+\)?\s*&\s*(?:0x|\d)/.test(code.slice(index));
}

function main(): void {
  const files = listFiles();
  const findings = files
    .filter((file) => CONTRACT.test(file))
    .flatMap((file) => fieldLiterals(file, readFileSync(join(projectRoot, file), "utf8")));
  for (const { file, line, text } of findings) {
    console.log(`${file}:${line}: "${text}": name the field in the library of its word`);
  }
  const unknown = Object.keys(NO_FIELDS).filter((file) => !files.includes(`verifier-contracts/${file}`));
  for (const file of unknown) console.log(`tools/check-words.ts: ${file} is listed and not there`);
  console.log(`${findings.length} literal offsets of packed fields`);
  if (findings.length + unknown.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
