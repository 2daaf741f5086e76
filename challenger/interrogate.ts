import { equalBytes, fromHex, toHex } from "../base/bytes.ts";
import { BaseError } from "../base/errors.ts";
import { encodeOutput, outputFault } from "../inference/codecs/output.ts";
import { type Commitment, tensorOf } from "../inference/commit/commitments.ts";
import { type Opening, open, outputRead, readsOf } from "../inference/commit/openings.ts";
import {
  decodePosition,
  openedLevel,
  type Position,
  TRACE_STEP,
  topLevel,
} from "../inference/commit/positions.ts";
import { traceShapes } from "../inference/commit/reveal.ts";
import {
  elementBytes,
  isClaimed,
  isStep,
  type Operand,
  type Program,
  type Step,
  type TensorData,
} from "../inference/program/form.ts";
import type { ClaimEntry } from "../protocol/chain/claim-index.ts";
import { ClaimedTrace } from "./claimed-trace.ts";

/** The honest run of the disputed input, by the canonical executor; of a program that reads the claimed output, on what
 *  the disputed claim states. */
export interface OwnTrace {
  readonly program: Program;
  readonly trace: Commitment;
  readonly weights: Commitment;
  /** Content of a PLAIN weight tensor, as the executor holds it. */
  constant(operand: Operand): TensorData;
}

/** The next thing to learn from, or to show about, a wrong claim. */
export type Question =
  | { readonly kind: "demand"; readonly position: Position }
  | {
      readonly kind: "element";
      readonly step: number;
      readonly element: number;
      readonly openings: readonly Opening[];
    }
  | {
      readonly kind: "codec";
      readonly step: number;
      /** what its tensor is made of */
      readonly of: "input" | "output";
      readonly root: Uint8Array;
      readonly path: readonly Uint8Array[];
    }
  /** Without openings where the form of the output is wrong, which the output alone shows. */
  | {
      readonly kind: "output";
      readonly output: Uint8Array;
      readonly element: number;
      readonly openings: readonly Opening[];
    };

/** Finds the fault of a committed trace, one position at a time.
 *
 *  At the first step whose root differs from the challenger's, all operands are agreed. Some child differs at each
 *  reveal, and at the bottom some element, which a judge can compute from agreed words. If no root differs, the
 *  trace is honest and the claimed output is not what it encodes to.
 *  @param output that is claimed
 *  @returns a demand, where the content of that position is not known yet; else a conviction
 *  @throws BaseError CLAIM_RIGHT where trace and output equal the challenger's */
export function interrogate(own: OwnTrace, claimed: ClaimedTrace, output: Uint8Array): Question {
  const step = firstDifferentStep(own, claimed);
  if (typeof step === "object") return { kind: "demand", position: step };
  if (step === undefined) return outputQuestion(own, output);
  const record = own.program.steps[step] as Step;
  if (record.opcode === "codec") {
    return {
      kind: "codec",
      step,
      of: isClaimed(record) ? "output" : "input",
      root: claimed.root(step) as Uint8Array,
      path: claimed.rootSiblings(step, own.trace.roots),
    };
  }
  return descend(own, claimed, step);
}

/** The next question about a claim, from what its events tell; undefined before its trace is committed. */
export function questionAbout(own: OwnTrace, { trace, demands, output }: ClaimEntry): Question | undefined {
  if (trace === undefined) return undefined;
  const claimed = new ClaimedTrace(traceShapes(own.program), trace.tops.map(fromHex));
  for (const [position, { content }] of demands) {
    if (content !== undefined) claimed.addReveal(decodePosition(position), content.map(fromHex));
  }
  return interrogate(own, claimed, fromHex(output));
}

/** Index of the first step with another root; a position while its root is hidden; undefined if none differs. */
function firstDifferentStep(own: OwnTrace, claimed: ClaimedTrace): number | Position | undefined {
  const { roots, tensors } = own.trace;
  const level = topLevel(tensors.length);
  const different = claimed.tops.findIndex((top, i) => !equalBytes(top, roots.node(level, i)));
  if (different === -1) return undefined;
  if (level === 0) return different;
  const position = { step: TRACE_STEP, level, index: different };
  const children = claimed.children(position);
  if (children === undefined) return position;
  const first = different * children.length;
  return first + children.findIndex((root, i) => !equalBytes(root, roots.node(0, first + i)));
}

function descend(own: OwnTrace, claimed: ClaimedTrace, step: number): Question {
  const tree = own.trace.tensors[step] as Commitment["tensors"][number];
  let position: Position = { step, level: tree.shape.height, index: 0 };
  for (;;) {
    const children = claimed.children(position);
    if (children === undefined) return { kind: "demand", position };
    const below = openedLevel(position.level);
    const first = position.index * children.length;
    const child = first + children.findIndex((node, i) => !equalBytes(node, tree.node(below, first + i)));
    if (below === 0) return elementQuestion(own, claimed, position, child);
    position = { step, level: below, index: child };
  }
}

/** @param position the revealed node over the leaf @param leaf a real word that differs */
function elementQuestion(own: OwnTrace, claimed: ClaimedTrace, position: Position, leaf: number): Question {
  const { program, trace, weights } = own;
  const { step } = position;
  const { type, dims } = program.steps[step] as Step;
  const tree = trace.tensors[step] as Commitment["tensors"][number];
  const words = claimed.words(position) as readonly Uint8Array[];
  const word = words[leaf % words.length] as Uint8Array;
  const honest = tree.leafWord(leaf);
  const byte = word.findIndex((value, i) => value !== honest[i]);
  const size = elementBytes(type);
  const width = 2 ** tree.shape.rowHeight;
  const row = Math.floor(leaf / width);
  const element = row * (dims[dims.length - 1] as number) + Math.floor((32 * (leaf % width) + byte) / size);
  const dataOf = (operand: Operand): TensorData =>
    isStep(operand) ? tensorOf(program, trace, operand).data : own.constant(operand);
  const operands = readsOf(program, step, element, dataOf).map((read) =>
    open(read, trace, weights, (index) => claimed.rootSiblings(index, trace.roots)),
  );
  const output: Opening = { words: [word], path: claimed.leafSiblings(step, leaf, trace.roots) };
  return { kind: "element", step, element, openings: [output, ...operands] };
}

function outputQuestion({ program, trace, weights }: OwnTrace, output: Uint8Array): Question {
  const last = program.steps.length - 1;
  const fault = outputFault(program, encodeOutput(program, tensorOf(program, trace, last)), output);
  if (fault === "form") return { kind: "output", output, element: 0, openings: [] };
  if (fault !== undefined) {
    const opening = open(outputRead(program, last, fault), trace, weights);
    return { kind: "output", output, element: fault, openings: [opening] };
  }
  throw new BaseError({
    code: "CLAIM_RIGHT",
    shortMessage: "Trace and output of the claim are what the program computes: there is nothing to convict.",
    nextStep: "Check who called this claim wrong, and report it: two executors differ.",
    details: { output: toHex(output) },
  });
}
