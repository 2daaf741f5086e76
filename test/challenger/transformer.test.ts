/** A text classifier of float32 sums and tables in the bond lane: an honest claim is final, a wrong element of any step is
 *  convicted by the contracts. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { decide } from "../../challenger/decide.ts";
import { loadArtifacts } from "../../cli/artifacts.ts";
import { commitModel } from "../../inference/commit/commitments.ts";
import { importOnnx } from "../../inference/onnx/import.ts";
import { elementCount, type Opcode, type Step } from "../../inference/program/form.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { replayOnContracts } from "../support/contract-game.ts";
import { playDispute } from "../support/dispute-game.ts";
import { type GamePlan, gameConstants } from "../support/dispute-table.ts";
import { ALL_LANES } from "../support/echo-model.ts";
import { EvmWorld } from "../support/evm-world.ts";
import { type HonestRun, honestRun } from "../support/lies.ts";
import { createRng } from "../support/rng.ts";
import { scaled } from "../support/scale.ts";
import { compileTruthParts } from "../support/truth-parts.ts";

const FILE = join(import.meta.dirname, "../vectors/quantized/distilbert.dynamic.onnx");
const ANSWER_SECONDS = 2;
const OPCODES: readonly Opcode[] = ["float", "move", "lookup", "dot", "arith", "select"];

let world: EvmWorld;
let run: HonestRun;
let place: { readonly modelId: ModelId; readonly word: bigint };

const planOf = (lie: GamePlan["lie"]): GamePlan => ({
  lie,
  answerSeconds: ANSWER_SECONDS,
  longer: 0,
  prover: { pace: "quick", stallsAt: undefined, lateAt: undefined, garbage: false },
  challengers: [{ pace: "quick", filesAt: 0 }],
  sybils: [],
  truths: [],
  seed: 7,
});

beforeAll(async () => {
  const settings = { inputTypes: new Map([["attention_mask", "int32"]]) };
  const { model } = importOnnx(readFileSync(FILE), settings);
  const selector = new Uint8Array(4).fill(9);
  run = honestRun({ model, selector, calldata: selfTestCalldata(model.program, selector, 2) });
  const artifacts = { ...loadArtifacts(), ProofLane: compileTruthParts().Liar };
  world = await EvmWorld.open(artifacts, gameConstants(ANSWER_SECONDS));
  const identity = { ...commitModel(model), selector, lanes: ALL_LANES, vkHash: new Uint8Array(32).fill(7) };
  const { modelId, events } = await world.register(model.program, identity);
  const [event] = events;
  if (event?.name !== "ModelRegistered") throw new Error("the model is not registered");
  place = { modelId, word: event.args.word };
});

/** One game, on the machine and on the contracts. */
async function play(lie: GamePlan["lie"]): Promise<string> {
  const { table, state, fall } = playDispute(run, planOf(lie), decide, {
    game: world.game,
    modelId: place.modelId,
  });
  await world.undone(() => replayOnContracts(world, table, place.word));
  return `${state} ${fall}`;
}

describe("a transformer's trace", () => {
  it("default: an honest claim is final", async () => {
    expect(await play(undefined)).toBe("FINAL NONE");
  });

  it.each(OPCODES)(
    "behavior: a wrong element of a step %s is convicted, whatever follows from it",
    async (opcode) => {
      const { steps } = run.prepared.program;
      const rng = createRng(OPCODES.indexOf(opcode));
      const places = steps.flatMap((step, i) => (step.opcode === opcode ? [i] : []));
      for (let i = 0; i < scaled(1, 8); i++) {
        const step = rng.pick(places);
        const at = rng.int(0, elementCount((steps[step] as Step).dims) - 1);
        const bytes = [{ step, at, flip: rng.int(1, 255) }];
        expect(await play({ bytes, follows: true, output: "own" })).toBe("FALLEN ELEMENT");
      }
    },
  );
});
