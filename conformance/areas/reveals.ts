/** Published nodes and reveals of committed traces. */
import { toHex } from "../../base/bytes.ts";
import { type Commitment, commitTrace } from "../../inference/commit/commitments.ts";
import { keccak256 } from "../../inference/commit/keccak.ts";
import {
  demandPath,
  encodePosition,
  openedLevel,
  type Position,
  SPAN,
  TRACE_STEP,
} from "../../inference/commit/positions.ts";
import {
  foldReveal,
  foldTops,
  type Reveal,
  revealAt,
  topsOf,
  traceShapes,
} from "../../inference/commit/reveal.ts";
import { foldNodes, foldPath, type TensorTree } from "../../inference/commit/tree.ts";
import { trace } from "../../inference/executor/execute.ts";
import { prepare } from "../../inference/executor/prepare.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import type { TreeShape } from "../../inference/program/shape.ts";
import { type Area, type Case, refusedCase, wordCase } from "../case.ts";
import { createRng, type Rng } from "../generate/rng.ts";
import { shapedProgram } from "../generate/shaped-program.ts";
import { joined, type Line, packed } from "../lines.ts";
import { turned } from "./commitments.ts";
import { attempt } from "./structure.ts";

/** A trace tree of more steps has positions of its own. */
const STEPS_OF_A_LEVEL = 64;
/** Seeds between those whose program is long. */
const LONG_EVERY = 8;

/** The next program, from the seed on, with positions in its trace tree. */
function longProgram(seed: number) {
  for (let next = seed; ; next++) {
    const subject = shapedProgram(next);
    if (subject.model.program.steps.length > STEPS_OF_A_LEVEL) return subject;
  }
}

export const REVEALS: Area = {
  name: "reveals",
  about: "published nodes, reveals of tensors and of the trace tree, and each of them with a bit turned",
  lines: ["tops", "reveal"],
  *cases(seed) {
    const { model, selector, inputs } = seed % LONG_EVERY === 0 ? longProgram(seed) : shapedProgram(seed);
    const { program } = model;
    const rng = createRng(seed);
    const commitment = commitTrace(program, trace(prepare(model, selector), inputs[0] as Uint8Array));
    const [bytes, root] = [toHex(encodeProgram(program)), toHex(commitment.root)];
    const tops = topsOf(commitment);
    yield wordCase(["tops", bytes, joined(tops)], [root], ["trace root"]);
    yield refusedCase(["tops", bytes, joined([...tops, ...tops])]);
    yield topsCase(bytes, program.steps.length, changed(rng, tops));
    const shapes = traceShapes(program);
    yield* strangePositions(rng, commitment, bytes);
    for (let i = 0; i < 3; i++) {
      const step = rng.int(0, shapes.length - 1);
      const { rows, words, rowHeight } = shapes[step] as (typeof shapes)[number];
      const leaf = rng.int(0, rows - 1) * 2 ** rowHeight + rng.int(0, words - 1);
      for (const position of demandPath(shapes, step, leaf)) {
        const { content, path } = revealAt(commitment, position);
        const ask = (shown: readonly Uint8Array[], siblings: readonly Uint8Array[]): Line => [
          "reveal",
          ...[bytes, root, packed(encodePosition(position), 8), joined(shown), joined(siblings)],
        ];
        yield wordCase(ask(content, path), []);
        yield refusedCase(ask(turned(rng, content), path));
        yield refusedCase(ask(content.slice(1), path));
        if (path.length > 0) yield refusedCase(ask(content, turned(rng, path)));
        // A lying prover's own root, which its content leads to: only what is padding refuses it.
        const lie = { content: changed(rng, content), path };
        const asked = ask(lie.content, path);
        const line: Line = [asked[0], bytes, toHex(looseRoot(shapes, position, lie)), ...asked.slice(3)];
        const isCanonical = attempt(() => foldReveal(shapes, position, lie)) !== undefined;
        yield isCanonical ? wordCase(line, []) : refusedCase(line);
      }
    }
  },
};

/** Nodes that lead to the root and are no positions: of a level between, or all of them padding. */
function* strangePositions(rng: Rng, { tensors, roots, root }: Commitment, bytes: string): Iterable<Case> {
  const ask = (position: Position, content: readonly Uint8Array[], path: readonly Uint8Array[]): Case =>
    refusedCase([
      "reveal",
      ...[bytes, toHex(root), packed(encodePosition(position), 8), joined(content), joined(path)],
    ]);
  const step = rng.int(0, tensors.length - 1);
  const { shape } = tensors[step] as TensorTree;
  const level = rng.int(0, SPAN - 1);
  if (level < shape.height) {
    const tree = tensors[step] as TensorTree;
    const words = Array.from({ length: 2 ** level }, (_, i) => tree.leafWord(i));
    yield ask({ step, level, index: 0 }, words, [...tree.siblings(level, 0), ...roots.siblings(0, step)]);
  }
  const index = 2 ** (roots.height - SPAN) - 1;
  if (roots.height > SPAN && index * 2 ** SPAN >= tensors.length) {
    const nodes = Array.from({ length: 2 ** SPAN }, (_, i) => roots.node(0, index * 2 ** SPAN + i));
    yield ask({ step: TRACE_STEP, level: SPAN, index }, nodes, roots.siblings(SPAN, index));
  }
}

/** One byte changed: half of the time the last one, which is often padding. */
function changed(rng: Rng, words: readonly Uint8Array[]): Uint8Array[] {
  const isLast = rng.chance(0.5);
  const at = isLast ? words.length - 1 : rng.int(0, words.length - 1);
  const byte = isLast ? 31 : rng.int(0, 31);
  return words.map((word, i) =>
    i === at ? word.map((one, j) => (j === byte ? one ^ rng.int(1, 255) : one)) : word,
  );
}

function topsCase(bytes: string, steps: number, tops: readonly Uint8Array[]) {
  const line: Line = ["tops", bytes, joined(tops)];
  const root = attempt(() => foldTops(steps, tops));
  return root === undefined ? refusedCase(line) : wordCase(line, [toHex(root)], ["trace root"]);
}

/** The root that a reveal leads to, whatever its padding is. */
function looseRoot(
  shapes: readonly TreeShape[],
  { step, level, index }: Position,
  reveal: Reveal,
): Uint8Array {
  const { content, path } = reveal;
  if (step === TRACE_STEP) return foldPath(foldNodes(content), index, path);
  const { height } = shapes[step] as TreeShape;
  const nodes = openedLevel(level) === 0 ? content.map(keccak256) : content;
  const root = foldPath(foldNodes(nodes), index, path.slice(0, height - level));
  return foldPath(root, step, path.slice(height - level));
}
