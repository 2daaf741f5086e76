/** One claim about a model that is played on the machine and replayed on the contracts: one prover, one challenger, both
 *  quick. */
import { decide } from "../../challenger/decide.ts";
import { loadArtifacts } from "../../cli/artifacts.ts";
import { commitModel } from "../../inference/commit/commitments.ts";
import type { Model } from "../../inference/program/form.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { replayOnContracts } from "./contract-game.ts";
import { playDispute } from "./dispute-game.ts";
import { type GamePlan, gameConstants, lanesOf } from "./dispute-table.ts";
import { EvmWorld } from "./evm-world.ts";
import { type HonestRun, honestRun } from "./lies.ts";
import { compileTruthParts } from "./truth-parts.ts";

const ANSWER_SECONDS = 2;
const SELECTOR = new Uint8Array(4).fill(9);

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

export interface PlayedModel {
  readonly run: HonestRun;
  /** @param lie undefined: an honest claim @returns the claim's state, and why it fell */
  play(lie: GamePlan["lie"]): Promise<string>;
  /** @throws Error with the registry's reason */
  register(lanes: number): ReturnType<EvmWorld["register"]>;
}

/** Registers a model on contracts of its own, with all lanes that it can have. */
export async function playedModel(model: Model): Promise<PlayedModel> {
  const { program } = model;
  const run = honestRun({ model, selector: SELECTOR, calldata: selfTestCalldata(program, SELECTOR, 2) });
  const artifacts = { ...loadArtifacts(), ProofLane: compileTruthParts().Liar };
  const world = await EvmWorld.open(artifacts, gameConstants(ANSWER_SECONDS));
  const identity = { ...commitModel(model), selector: SELECTOR, vkHash: new Uint8Array(32).fill(7) };
  const register = (lanes: number) => world.register(program, { ...identity, lanes });
  const { modelId, events } = await register(lanesOf(program));
  const [event] = events;
  if (event?.name !== "ModelRegistered") throw new Error("the model is not registered");
  const { word } = event.args;
  return {
    run,
    register,
    play: async (lie) => {
      const { table, state, fall } = playDispute(run, planOf(lie), decide, { game: world.game, modelId });
      await world.undone(() => replayOnContracts(world, table, word));
      return `${state} ${fall}`;
    },
  };
}
