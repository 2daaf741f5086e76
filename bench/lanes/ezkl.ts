/** The PROOF lane by ezkl, measured on float perceptrons of the same shapes as the int8 ones. Needs an ezkl that is installed:
 *  `assay proof ezkl install --data build/ezkl-data`. */
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Address, encodeFunctionData, type Hex } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { compileVerifier } from "../../cli/proof/compile-verifier.ts";
import { createRng } from "../../conformance/generate/rng.ts";
import { proofLaneOf } from "../../protocol/chain/proof/store-key.ts";
import { iEzklVerifiersAbi, iModelRegistryAbi, iProofLaneAbi } from "../../protocol/rules/generated/abis.ts";
import { ezklBinding } from "../../protocol/rules/proof/public-signals.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { addEzklModel } from "../../prover/proof/ezkl/add.ts";
import { loadProofModel, type ProofModel } from "../../prover/proof/ezkl/folder.ts";
import { pythonOf } from "../../prover/proof/ezkl/install.ts";
import {
  encodeCalldata,
  encodeEvidence,
  instanceCount,
  outputBytes,
  outputNumbers,
  signedElement,
} from "../../prover/proof/ezkl/instances.ts";
import type { StageCost } from "../../prover/proof/ezkl/keys.ts";
import { inputFile, modelKeys, runEzkl } from "../../prover/proof/ezkl/prove.ts";
import { verifierOf } from "../../prover/proof/ezkl/register.ts";
import { toFixedPoint } from "../../prover/proof/ezkl/values.ts";
import { type CalibrationTarget, runStage } from "../../prover/proof/ezkl/worker.ts";
import { accountAt } from "../../test/support/anvil.ts";
import { mlpFile, randomLayers, runLayers } from "../../test/support/float-mlp.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { type BenchChain, openBenchChain } from "../chain.ts";
import { type MlpDims, mlpInput } from "../tasks/mlp.ts";
import { type EzklResult, ezklRounds } from "./ezkl-rounds.ts";
import { median } from "./median.ts";
import { type Proved, proverBinding, settle } from "./moves.ts";

/** Where `npm run test:ezkl` installs ezkl, too. */
export const EZKL_DATA = "build/ezkl-data";
const FOLDER = join(projectRoot, EZKL_DATA, "ezkl");

const SEED = 256_64_32_2;

export interface EzklPoint {
  readonly target: CalibrationTarget;
  readonly multiplications: number;
  readonly rows: number;
  /** public values of a proof */
  readonly instances: number;
  readonly inputs: number;
  /** fraction bits of the inputs */
  readonly scaleBits: number;
  /** calibration, circuit, keys and verifier; without the SRS, which serves all circuits of its size */
  readonly setupSeconds: number;
  /** of it, what a prover does who has the model's folder: circuit and keys */
  readonly keySeconds: number;
  /** 0 where the SRS was there */
  readonly srsSeconds: number;
  /** from the start of a process to the evidence of its only result, median */
  readonly coldSeconds: number;
  /** from calldata to evidence, median of the results behind a process's first */
  readonly warmSeconds: number;
  /** peak of the process that made them */
  readonly memoryBytes: number;
  /** proving key */
  readonly keyBytes: number;
  readonly proofBytes: number;
  readonly initCodeBytes: number;
  /** verifier contract, key and registration */
  readonly setupGas: number;
  readonly requestGas: number;
  readonly settleGas: number;
  /** share of the inputs for which the largest output is not the float network's */
  readonly accuracyLoss: number;
  /** largest difference of an output from the float network */
  readonly largestError: number;
}

export interface EzklOptions {
  readonly dims: MlpDims;
  readonly target: CalibrationTarget;
  /** processes for coldSeconds, results for warmSeconds; two or more */
  readonly rounds: number;
  /** inputs for accuracyLoss */
  readonly compared: number;
}

/** Time of a development SRS. */
export interface SrsPoint {
  readonly rows: number;
  readonly seconds: number;
}

/** @param logrows of each @returns none where ezkl is not installed */
export async function measureSrs(logrows: readonly number[]): Promise<SrsPoint[]> {
  const python = pythonOf(FOLDER);
  if (!existsSync(python)) return [];
  const scratch = mkdtempSync(join(tmpdir(), "assay-bench-srs-"));
  try {
    const points: SrsPoint[] = [];
    for (const k of logrows) {
      const { seconds } = await runStage({ python }, "srs", { srs: join(scratch, `${k}.srs`), logrows: k });
      points.push({ rows: 2 ** k, seconds });
    }
    return points;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** @returns undefined where ezkl is not installed */
export async function measureEzkl(options: EzklOptions): Promise<EzklPoint | undefined> {
  if (!existsSync(pythonOf(FOLDER))) return undefined;
  const scratch = mkdtempSync(join(tmpdir(), "assay-bench-ezkl-"));
  const chain = await openBenchChain();
  try {
    return await measure(FOLDER, join(scratch, "mlp"), chain, options);
  } finally {
    await chain.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function measure(
  folder: string,
  directory: string,
  bench: BenchChain,
  { dims, target, rounds, compared }: EzklOptions,
): Promise<EzklPoint> {
  const layers = randomLayers(createRng(SEED), dims);
  const stages: StageCost[] = [];
  const ezkl = { folder, onStage: (cost: StageCost) => stages.push(cost) };
  const onnx = mlpFile(layers);
  const range = [0, 1] as const;
  await addEzklModel({ ...ezkl, name: "mlp", directory, onnx, compile: compileVerifier, target, range });
  const seconds = (chosen: RegExp): number =>
    stages.filter(({ name }) => chosen.test(name)).reduce((sum, cost) => sum + cost.seconds, 0);
  const [srsSeconds, allSeconds] = [seconds(/SRS/), seconds(/./)];
  const keySeconds = seconds(/compile the circuit|set up keys/);

  const model = loadProofModel(directory);
  const keys = await modelKeys(ezkl, model);
  const binding = ezklBinding(proverBinding(bench, model.modelId as ModelId));
  const rng = createRng(SEED);
  const pictures = Array.from({ length: Math.max(compared, rounds + 1) }, () =>
    Array.from(mlpInput(rng).subarray(0, dims[0]), (byte) => byte / 256),
  );
  const files = pictures.map((x) =>
    inputFile(model, toFixedPoint(model.manifest.assay.inputs, { x }), binding),
  );
  const python = pythonOf(folder);
  const cold: number[] = [];
  for (const file of files.slice(0, rounds)) cold.push((await ezklRounds(python, keys, [file])).wallSeconds);
  const warm = await ezklRounds(python, keys, files.slice(0, rounds + 1));
  const setupGas = await register(bench, model);
  const gas = await settleTwo(bench, model, pictures, warm.results);
  const outputs = await runEzkl(
    ezkl,
    model,
    pictures.slice(0, compared).map((picture) => calldataOf(model, picture)),
  );
  const scale = 2 ** (model.key.outputs[0]?.scaleBits ?? 0);
  const pairs = outputs.map((output, i) => ({
    proven: outputNumbers(output).map((number) => Number(number) / scale),
    real: runLayers(layers, pictures[i] as number[]),
  }));
  const classOf = (values: readonly number[]): number => values.indexOf(Math.max(...values));
  const wrong = pairs.filter(({ proven, real }) => classOf(proven) !== classOf(real));
  const errors = pairs.flatMap(({ proven, real }) =>
    proven.map((value, k) => Math.abs(value - (real[k] as number))),
  );
  const [inputs, first, second, last] = dims;
  return {
    target,
    multiplications: inputs * first + first * second + second * last,
    rows: 2 ** keys.logrows,
    instances: instanceCount(model),
    inputs: model.inputs,
    scaleBits: model.key.inputs[0]?.scaleBits ?? 0,
    setupSeconds: allSeconds - srsSeconds,
    keySeconds,
    srsSeconds,
    coldSeconds: median(cold),
    warmSeconds: median(warm.results.slice(1).map((one) => one.seconds)),
    memoryBytes: warm.memoryBytes,
    keyBytes: statSync(keys.pk).size,
    proofBytes: fromHex(warm.results[0]?.proof ?? "0x").length,
    initCodeBytes: fromHex(model.verifier.initCode as Hex).length,
    setupGas: Number(setupGas),
    requestGas: Number(gas.request),
    settleGas: Number(gas.settle),
    accuracyLoss: wrong.length / pairs.length,
    largestError: Math.max(...errors),
  };
}

const calldataOf = ({ manifest }: ProofModel, picture: readonly number[]): Uint8Array =>
  encodeCalldata(fromHex(manifest.assay.selector), toFixedPoint(manifest.assay.inputs, { x: picture }));

/** @returns gas of verifier, key and registration */
async function register(bench: BenchChain, model: ProofModel): Promise<bigint> {
  const { assay } = model.manifest;
  const { verifiers } = await verifierOf(bench.chain, model);
  const initCode = model.verifier.initCode as Hex;
  const identity = [assay.selector as Hex, model.inputs, model.outputs, assay.vkHash as Hex] as const;
  const steps: readonly (readonly [Address, Hex])[] = [
    [verifiers, encodeFunctionData({ abi: iEzklVerifiersAbi, functionName: "create", args: [initCode] })],
    [
      bench.chain.deployment.contracts.registry,
      encodeFunctionData({ abi: iModelRegistryAbi, functionName: "registerProofModel", args: identity }),
    ],
    [
      proofLaneOf(bench.chain),
      encodeFunctionData({
        abi: iProofLaneAbi,
        functionName: "storeKey",
        args: [model.modelId as Hex, toHex(model.keyBytes)],
      }),
    ],
  ];
  let gas = 0n;
  for (const [to, data] of steps) {
    const { receipt } = await bench.send(accountAt(0), { key: "register", to, data, value: 0n, doneBy: [] });
    gas += receipt.gasUsed;
  }
  return gas;
}

/** Settles two requests. @returns the second's gas: a prover's first settlement also pays for the storage slot of its
 *  credit */
async function settleTwo(
  bench: BenchChain,
  model: ProofModel,
  pictures: readonly (readonly number[])[],
  results: readonly EzklResult[],
) {
  const { verifier } = await verifierOf(bench.chain, model);
  let gas = { request: 0n, settle: 0n };
  for (const [i, { proof, outputs }] of results.slice(0, 2).entries()) {
    const calldata = calldataOf(model, pictures[i] as number[]);
    const expected = outputBytes(outputs.map(BigInt).map(signedElement));
    const evidence = encodeEvidence(verifier, proof);
    const one: Proved = { input: toHex(calldata), output: toHex(expected), evidence };
    gas = await settle(bench, model.modelId as ModelId, one);
  }
  return gas;
}
