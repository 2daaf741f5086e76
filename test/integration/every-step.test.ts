import { setMaxListeners } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import { SILENT } from "../../base/log.ts";
import { runChallenger } from "../../challenger/main.ts";
import { FAULTS, type Fault, type FaultKind, falsify } from "../../cli/demo/dishonest/faults.ts";
import { openEngine } from "../../cli/engine.ts";
import { encodeInput } from "../../inference/codecs/input.ts";
import { revealAt } from "../../inference/commit/reveal.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import { isClaimed, type Step } from "../../inference/program/form.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { EndingBudget } from "../../protocol/chain/endings.ts";
import { EventFollower } from "../../protocol/chain/follower.ts";
import { FALL_REASONS, type RequestId, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { ChainClock } from "../../protocol/service/metrics/chain-clock.ts";
import { EventStore } from "../../protocol/service/store/event-store.ts";
import { EVENTS_SCHEMA } from "../../protocol/service/store/events-schema.ts";
import { FailedDeliveries } from "../../prover/failed-deliveries.ts";
import { JOBS_SCHEMA, JobStore } from "../../prover/jobs.ts";
import { type ServedModel, serveModels } from "../../prover/models.ts";
import type { Runs } from "../../prover/runs.ts";
import { Prover } from "../../prover/watch.ts";
import { causalGraph } from "../support/causal-graphs.ts";
import { measuredOn, writeDerivation } from "../support/derivation.ts";
import { promptNumbers, textOf } from "../support/derived-llama.ts";
import { onnxFile } from "../support/onnx-file.ts";
import { importModel, ownFolder, ownModel, registerModel } from "../support/own-models.ts";
import { createRng } from "../support/rng.ts";
import { scaled } from "../support/scale.ts";
import { smallLlama } from "../support/small-llama.ts";
import { ROLES, SHIPPED, type System, startSystem, systemAccount } from "../support/system.ts";

/** No deadline is at stake here: one process plays a prover with hundreds of claims and their challenger. */
const ANSWER_SECONDS = 1_200;
const POLL_MS = 100;
/** Longer than the rest of the suite: hundreds of disputes on whatever cores there are. */
const PATIENCE_MS = 900_000;

interface Lie {
  readonly model: LoadedModel;
  readonly calldata: Uint8Array;
  readonly fault: Fault;
}

/** A small transformer whose tokens are the claim: with the others every opcode that there is. */
const transformer = (): Uint8Array => onnxFile(causalGraph(createRng(6), { mask: "Add" }).graph);
const TRANSFORMER_FLAGS = "--claimed answer --arithmetic integers --products dot --codec int16s".split(" ");
const IDS = ["prompt", "answer"].flatMap((name) => ["--input-type", `${name}=int32`]);

/** A small language model, by `assay model derive`. */
const llama = smallLlama(createRng(5), { layers: 1 });
const LENGTHS = { prompt: 4, answer: 3 };

async function deriveModel(): Promise<LoadedModel> {
  const measured = measuredOn(llama, LENGTHS);
  const { folder, weights } = writeDerivation(join(system.folder, "llama-source"), llama, measured);
  const out = ownFolder(system, "llama");
  const lengths = ["--prompt", `${LENGTHS.prompt}`, "--answer", `${LENGTHS.answer}`];
  await ownModel(system, ["derive", folder, "--from", weights, ...lengths, "--out", out]);
  return registerModel(system, out);
}

/** Even seeds stay near usual values; to a language model's ids most of the numbers that a self-test draws are nothing. */
function calldataOf({ model: { program }, selector, source }: LoadedModel, i: number): Uint8Array {
  if (source.name !== "recipe.json") return selfTestCalldata(program, selector, 2 * i);
  const int16s = promptNumbers(textOf(createRng(i), llama, LENGTHS.prompt), LENGTHS.prompt);
  return encodeInput(program, selector, { codec: "int16s", int16s });
}

const kindOf = ({ opcode, variant }: Step): string => `${opcode} ${variant}`;

/** The steps that are lied about: all in `npm run test:deep`. On every change the codecs of each model, and of each other
 *  opcode's variants the last step of the last model that has it. */
function stepsOf(loaded: LoadedModel): number[] {
  const { steps } = loaded.model.program;
  const others = models.slice(models.indexOf(loaded) + 1).flatMap(({ model }) => model.program.steps);
  const later = new Set(others.filter(({ opcode }) => opcode !== "codec").map(kindOf));
  const lastOfKind = new Map(steps.map((step, i) => [kindOf(step), i]));
  const few = [...lastOfKind].filter(([kind]) => !later.has(kind)).map(([, step]) => step);
  return scaled(few, [...steps.keys()]);
}

/** Every fault that a step can have: an element of any step but the codec's, which can be wrong in two ways, the claimed
 *  one's in one. */
function liesOf(model: LoadedModel): Lie[] {
  const { program } = model.model;
  const faults = stepsOf(model).flatMap((step): Fault[] => {
    const record = program.steps[step] as Step;
    const ofCodec: FaultKind[] = isClaimed(record) ? ["codec"] : ["codec", "input"];
    const kinds: FaultKind[] = record.opcode === "codec" ? ofCodec : ["element"];
    return kinds.map((kind) => ({ kind, step }));
  });
  // Each lie has an input of its own.
  return faults.map((fault, i) => ({ model, fault, calldata: calldataOf(model, i) }));
}

/** One cheat for all lies: which it tells depends on the model and its input. */
function lyingRuns(lies: readonly Lie[]): Runs {
  const keyOf = (modelId: string, calldata: Uint8Array) => `${modelId} ${toHex(calldata)}`;
  const faults = new Map(lies.map(({ model, calldata, fault }) => [keyOf(model.modelId, calldata), fault]));
  const faultOf = (model: ServedModel, calldata: Uint8Array): Fault => {
    const fault = faults.get(keyOf(model.id, calldata));
    if (fault === undefined) throw new Error("Nobody planned to lie about this input.");
    return fault;
  };
  return {
    output: async (model, calldata) => falsify(model.prepared, calldata, faultOf(model, calldata)).output,
    trace: async (model, calldata) => falsify(model.prepared, calldata, faultOf(model, calldata)).trace,
    reveal: revealAt,
  };
}

let system: System;
let models: readonly LoadedModel[];
const stopping = new AbortController();
const ends: Promise<void>[] = [];

beforeAll(async () => {
  // Every move on its way listens.
  setMaxListeners(0, stopping.signal);
  system = await startSystem({ models: SHIPPED, answerSeconds: ANSWER_SECONDS });
  const own = await importModel(system, "transformer", transformer(), [...TRANSFORMER_FLAGS, ...IDS]);
  models = [...system.models, own, await deriveModel()];
});

afterAll(async () => {
  stopping.abort();
  await Promise.all(ends);
  await system.stop();
});

async function runCheat(lies: readonly Lie[]): Promise<void> {
  const chain = await system.chainOf(systemAccount(ROLES.cheat));
  const { signal } = stopping;
  const options = { pollIntervalMs: POLL_MS };
  const folder = openDataFolder(join(system.folder, "cheat"), chain, [EVENTS_SCHEMA, JOBS_SCHEMA], options);
  const prover = new Prover({
    chain,
    sender: folder.sender,
    actions: new Actions(chain.game),
    store: new EventStore(folder.db),
    models: serveModels(models),
    runs: lyingRuns(lies),
    truths: [],
    policy: {
      marginPercent: 0,
      maxBonds: 10n ** 24n,
      maxBond: 10n ** 24n,
      endingBudget: 10n ** 16n,
      maxWindow: 86_400,
    },
    failedDeliveries: new FailedDeliveries(folder.db, 1),
    budget: new EndingBudget(0n, Date.now),
    maxFee: 500n * 10n ** 9n,
    operator: ZERO_ADDRESS,
    log: SILENT,
    signal,
    jobs: new JobStore(folder.db, "cheat"),
    claims: true,
    width: lies.length,
    forgetAfter: 7_200n,
    withdrawAbove: 10n ** 24n,
    confirmations: 0,
    force: false,
    onRefusal: (error) => expect.unreachable(error.message),
    clock: new ChainClock(Date.now),
    onJobEnd: () => {},
    nowMs: Date.now,
  });
  await new EventFollower(chain, options).run((batch) => prover.take(batch), signal);
  await prover.stop();
  await folder.close();
}

async function runHonestChallenger(): Promise<void> {
  const fast = await openEngine(models, 1, SILENT);
  await runChallenger(
    {
      mode: "defend",
      chain: await system.chainOf(systemAccount(ROLES.challenger)),
      models,
      fast,
      canonical: fast.canonical,
      data: join(system.folder, "challenger"),
      width: 4,
      limits: {
        maxExposure: 10n ** 24n,
        endingBudget: 10n ** 16n,
        withdrawAbove: 10n ** 24n,
      },
      pollIntervalMs: POLL_MS,
      confirmations: 0,
      maxFee: 500n * 10n ** 9n,
      log: SILENT,
    },
    stopping.signal,
  ).finally(() => fast.close());
}

describe(`a lie at steps of ${SHIPPED.join(", ")}, of a transformer and of a language model`, () => {
  it(
    "behavior: side by side on one chain, each falls by the reason that its kind states",
    async () => {
      const lies = models.flatMap(liesOf);
      const steps = models.reduce((sum, model) => sum + stepsOf(model).length, 0);
      expect(lies.length).toBe(steps + models.length);
      ends.push(runCheat(lies), runHonestChallenger());
      const cheat = systemAccount(ROLES.cheat).address;
      const asked = await Promise.all(
        lies.map(({ model, calldata }) => system.ask({ model, calldata, prover: cheat })),
      );
      const fallen = await system.events.when(
        () => {
          const falls = new Map(system.events.all("Fell").map((fall) => [fall.requestId, fall]));
          return falls.size === lies.length ? falls : undefined;
        },
        () => `${system.events.all("Fell").length} of ${lies.length} claims fell`,
        PATIENCE_MS,
      );
      const actual = asked.map(({ requestId }, i) => {
        const { fault, model } = lies[i] as Lie;
        const fall = fallen.get(requestId as RequestId);
        const facts = { model: model.manifest.name, kind: fault.kind };
        return { ...facts, step: fall && Number(fall.step), reason: fall && FALL_REASONS[fall.reason] };
      });
      const expected = lies.map(({ fault, model }) => ({
        model: model.manifest.name,
        kind: fault.kind,
        step: fault.step,
        reason: FAULTS[fault.kind].fall,
      }));
      expect(actual).toEqual(expected);
      expect(system.events.all("Finalized")).toEqual([]);
    },
    2 * PATIENCE_MS,
  );
});
