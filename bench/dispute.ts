/** A whole dispute, move by move: gas of each transaction and the time of both sides. */

import { toHex } from "../base/bytes.ts";
import { ClaimedTrace } from "../challenger/claimed-trace.ts";
import { interrogate, type OwnTrace, type Question } from "../challenger/interrogate.ts";
import { type DishonestRun, falsify } from "../cli/demo/dishonest/faults.ts";
import { createRng } from "../conformance/generate/rng.ts";
import { type CodecInput, encodeInput } from "../inference/codecs/input.ts";
import { commitTrace, commitWeights } from "../inference/commit/commitments.ts";
import type { Opening } from "../inference/commit/openings.ts";
import { encodePosition } from "../inference/commit/positions.ts";
import { revealAt, topsOf, traceShapes } from "../inference/commit/reveal.ts";
import { checkOutput, trace } from "../inference/executor/execute.ts";
import { prepare } from "../inference/executor/prepare.ts";
import type { PreparedModel } from "../inference/executor/prepared-model.ts";
import type { Model } from "../inference/program/form.ts";
import type { Action } from "../protocol/chain/actions.ts";
import type { Claim } from "../protocol/rules/types.ts";
import { CHALLENGER, fileBondedClaim, PROVER } from "./bonded-claim.ts";
import { type BenchChain, eventOf, SELECTOR } from "./chain.ts";
import { DOT_STEP } from "./limit-model.ts";
import { hexes } from "./worst-trace.ts";

export interface Move {
  readonly name: string;
  readonly gas: bigint;
}

export interface MeasuredDispute {
  /** from the challenge to the conviction */
  readonly moves: readonly Move[];
  /** seconds from the mined claim to the mined conviction, all computing of both sides included */
  readonly seconds: number;
  /** the wrong output */
  readonly claimed: Uint8Array;
}

export interface Subject {
  /** whose element is wrong; default: that of `limitModel` */
  readonly step?: number;
  /** default: bytes by chance, of a program of the codec raw */
  readonly input?: CodecInput;
  /** of the model; what it has planned is not planned again */
  readonly prepared?: PreparedModel;
}

/** Claims a run with one wrong element of a step, and disputes it to its fall. */
export async function measureDispute(
  bench: BenchChain,
  model: Model,
  { step = DOT_STEP, input = bytesFor(model), prepared = prepare(model, SELECTOR) }: Subject = {},
): Promise<MeasuredDispute> {
  const calldata = encodeInput(model.program, SELECTOR, input);
  const cheated = falsify(prepared, calldata, { kind: "element", step });
  const modelId = await bench.register(model);
  const output = toHex(cheated.output);
  const { claim } = await fileBondedClaim(bench, { modelId, input: toHex(calldata), output });
  const weights = commitWeights(model);
  return disputeToItsFall(bench, { prepared, weights, calldata, cheated, claim });
}

/** By chance, of a program of the codec raw. */
export const bytesFor = ({ program }: Model): CodecInput => ({
  codec: "raw",
  bytes: createRng(7).bytes(program.inputSize),
});

export interface Cheated {
  readonly prepared: PreparedModel;
  readonly weights: OwnTrace["weights"];
  readonly calldata: Uint8Array;
  /** the run with one wrong element that was claimed */
  readonly cheated: DishonestRun;
  readonly claim: Claim;
  /** absent: the prover's own in Assay */
  readonly commit?: Action;
}

/** The moves from the ticket to the conviction. */
export async function disputeToItsFall(
  bench: BenchChain,
  { prepared, weights, calldata, cheated, claim, commit }: Cheated,
): Promise<MeasuredDispute> {
  const { actions } = bench;
  const moves: Move[] = [];
  const move = async (name: string, ...sent: Parameters<BenchChain["send"]>) => {
    const mined = await bench.send(...sent);
    moves.push({ name, gas: mined.receipt.gasUsed });
    return mined;
  };
  const start = performance.now();
  if (checkOutput(prepared, calldata, cheated.output).isRight) throw new Error("The claim is right.");
  await move("challenge", CHALLENGER, actions.challenge(claim));
  const { trace: cheat } = cheated;
  await move("commitTrace", PROVER, commit ?? actions.commitTrace(claim, hexes(topsOf(cheat))));
  const own = ownTrace(cheated.output, { prepared, calldata, weights });
  const claimed = new ClaimedTrace(traceShapes(prepared.program), topsOf(cheat));
  for (;;) {
    const question = interrogate(own, claimed, cheated.output);
    if (question.kind !== "demand") {
      const mined = await move("convictElement", CHALLENGER, convict(bench, claim, question));
      eventOf(mined, "Fell");
      return { moves, seconds: (performance.now() - start) / 1000, claimed: cheated.output };
    }
    const position = encodePosition(question.position);
    await move("demand", CHALLENGER, actions.demand(claim, toHex(cheat.root), position));
    const { content, path } = revealAt(cheat, question.position);
    await move("reveal", PROVER, actions.reveal(claim, position, hexes(content), hexes(path)));
    claimed.addReveal(question.position, content);
  }
}

/** @param claimed the output, which some programs read */
function ownTrace(
  claimed: Uint8Array,
  { prepared, calldata, weights }: Pick<Cheated, "prepared" | "calldata" | "weights">,
): OwnTrace {
  const { program } = prepared;
  const own = commitTrace(program, trace(prepared, calldata, claimed));
  const constant: OwnTrace["constant"] = (operand) => prepared.constant(operand);
  return { program, trace: own, weights, constant };
}

function convict({ actions }: BenchChain, claim: Claim, question: Question) {
  if (question.kind !== "element") throw new Error(`The dispute ends in ${question.kind}.`);
  const opened = ({ words, path }: Opening) => ({ words: hexes(words), path: hexes(path) });
  return actions.convictElement(claim, question.step, question.element, question.openings.map(opened));
}
