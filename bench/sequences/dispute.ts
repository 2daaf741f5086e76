/** A dispute over one wrong element of a derived model. */
import { isPlanesDot, type Model } from "../../inference/program/form.ts";
import { measureDispute, type Subject } from "../dispute.ts";
import { onChain } from "../gas.ts";
import { grouped } from "../report.ts";
import type { ModelFigures } from "./measured.ts";

const MOST_MOVES = 11;
const MOST_CONVICTION_GAS = 360_000;

/** The last product of numbers of 16 bits. */
export function lastProduct({ program: { steps } }: Model): number {
  return steps.findLastIndex(isPlanesDot);
}

/** @param step whose element is wrong @param mostGas of all moves */
export async function addDispute(
  figures: ModelFigures,
  { prepared, input, step }: Required<Subject>,
  mostGas: number,
): Promise<void> {
  const { moves } = await onChain((bench) =>
    measureDispute(bench, prepared.model, { prepared, step, input }),
  );
  const gas = moves.reduce((sum, move) => sum + Number(move.gas), 0);
  const conviction = moves.findLast(({ name }) => name === "convictElement");
  figures.atMost("moves of a dispute", moves.length, grouped, MOST_MOVES);
  figures.atMost("gas of a dispute", gas, grouped, mostGas);
  figures.atMost("gas of its conviction", Number(conviction?.gas), grouped, MOST_CONVICTION_GAS);
}
