/** A dispute's openings beside the honest trace: where the two part. */
import { fromHex, type Hex, toHex } from "../../../base/bytes.ts";
import type { Commitment } from "../../../inference/commit/commitments.ts";
import { isReal, openedLevel, topLevel } from "../../../inference/commit/positions.ts";
import {
  elementBytes,
  lastDim,
  type Program,
  type Step,
  type Tensor,
} from "../../../inference/program/form.ts";
import { fromStoredBytes, storedElement } from "../../../inference/program/tensor.ts";
import { numberOf } from "./values.ts";

/** The part of a dispute that has been shown of the claimed trace. */
export interface Shown {
  readonly tops: readonly Hex[];
  /** in the order of the demands; `step` -1 is the tree over the tensor roots */
  readonly openings: readonly {
    readonly step: number;
    readonly level: number;
    readonly index: number;
    readonly content?: readonly Hex[] | undefined;
  }[];
}

export interface Cell {
  readonly state: "same" | "different" | "padding";
  readonly honest: Hex;
  readonly claimed: Hex;
}

/** An element that the claim states otherwise. */
export interface Parting {
  readonly element: number;
  readonly honest: number;
  readonly claimed: number;
}

/** One level of a tree, from one node's opening. */
export interface Floor {
  readonly kind: "roots" | "nodes" | "words";
  /** -1: the tree over the tensor roots */
  readonly step: number;
  readonly level: number;
  /** index of the first cell at its level; of roots: the step */
  readonly first: number;
  readonly cells: readonly Cell[];
  /** of words: the elements that differ, in order */
  readonly partings: readonly Parting[];
}

export interface OwnRun {
  readonly program: Program;
  readonly tensors: readonly Tensor[];
  readonly trace: Commitment;
}

/** What was shown, level by level, each node compared with the honest run's. */
export function descent(own: OwnRun, { tops, openings }: Shown): Floor[] {
  if (tops.length === 0) return [];
  const steps = own.program.steps.length;
  const top = topLevel(steps);
  const floors = [traceFloor(own, top, 0, tops)];
  for (const { step, level, index, content } of openings) {
    if (content === undefined) continue;
    const below = openedLevel(level);
    const first = index * 2 ** (level - below);
    floors.push(
      step < 0 ? traceFloor(own, below, first, content) : tensorFloor(own, step, below, first, content),
    );
  }
  return floors;
}

const cell = (claimed: Hex, node: Uint8Array, isPadding: boolean): Cell => {
  const honest = toHex(node);
  return { honest, claimed, state: isPadding ? "padding" : honest === claimed ? "same" : "different" };
};

function traceFloor(
  { program, trace }: OwnRun,
  level: number,
  first: number,
  content: readonly Hex[],
): Floor {
  const steps = program.steps.length;
  const cells = content.map((claimed, i) =>
    cell(claimed, trace.roots.node(level, first + i), (first + i) * 2 ** level >= steps),
  );
  return { kind: level === 0 ? "roots" : "nodes", step: -1, level, first, cells, partings: [] };
}

function tensorFloor(
  own: OwnRun,
  step: number,
  level: number,
  first: number,
  content: readonly Hex[],
): Floor {
  const tree = own.trace.tensors[step] as Commitment["tensors"][number];
  const cells = content.map((claimed, i) => {
    const index = first + i;
    const honest = level === 0 ? tree.leafWord(index) : tree.node(level, index);
    return cell(claimed, honest, !isReal(tree.shape, level, index));
  });
  const partings = level === 0 ? cells.flatMap((each, i) => partingsOf(own, step, first + i, each)) : [];
  return { kind: level === 0 ? "words" : "nodes", step, level, first, cells, partings };
}

/** Elements of a word that differ. @param leaf row · W + word */
function partingsOf(
  { program, trace, tensors }: OwnRun,
  step: number,
  leaf: number,
  { state, claimed }: Cell,
): Parting[] {
  if (state !== "different") return [];
  const { type, dims } = program.steps[step] as Step;
  const { shape } = trace.tensors[step] as Commitment["tensors"][number];
  const width = 2 ** shape.rowHeight;
  const perWord = 32 / elementBytes(type);
  const inRow = (leaf % width) * perWord;
  const count = Math.min(perWord, lastDim(dims) - inRow);
  const first = Math.floor(leaf / width) * lastDim(dims) + inRow;
  const data = fromStoredBytes(type, fromHex(claimed));
  const honest = (tensors[step] as Tensor).data;
  return Array.from({ length: count }, (_, i) => ({
    element: first + i,
    honest: storedElement(honest, first + i),
    claimed: storedElement(data, i),
  }))
    .filter((each) => each.honest !== each.claimed)
    .map((each) => ({
      element: each.element,
      honest: numberOf(type, each.honest),
      claimed: numberOf(type, each.claimed),
    }));
}
