/** The PROOF lane by ezkl, measured on the float twin of the task MLP in both calibrations. Needs an ezkl that is
 *  installed: `assay proof ezkl install --data FOLDER`. By itself: `tsx bench/lanes/ezkl.ts FOLDER`. */
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Address, encodeFunctionData, type Hex, keccak256 } from "viem";
import { compileVerifier } from "../../cli/proof/compile-verifier.ts";
import { fromHex, toHex } from "../../inference/bytes.ts";
import { iEzklVerifiersAbi, iModelRegistryAbi, iProofLaneAbi } from "../../protocol/generated/abis.ts";
import { bindingSignal } from "../../protocol/proof/public-signals.ts";
import { proofLaneOf } from "../../protocol/proof/store-key.ts";
import { LANE, type ModelId, type Request, ZERO_ADDRESS } from "../../protocol/terms.ts";
import { addEzklModel } from "../../prover/proof/ezkl/add.ts";
import { loadProofModel, type ProofModel } from "../../prover/proof/ezkl/folder.ts";
import { pythonOf } from "../../prover/proof/ezkl/install.ts";
import { encodeCalldata, encodeEvidence, outputNumbers } from "../../prover/proof/ezkl/instances.ts";
import type { StageCost } from "../../prover/proof/ezkl/keys.ts";
import { modelKeys, proveEzkl } from "../../prover/proof/ezkl/prove.ts";
import { verifierOf } from "../../prover/proof/ezkl/register.ts";
import { fromFixedPoint, toFixedPoint } from "../../prover/proof/ezkl/values.ts";
import type { CalibrationTarget } from "../../prover/proof/ezkl/worker.ts";
import { accountAt } from "../../test/support/anvil.ts";
import { mlpFile, randomLayers, runLayers } from "../../test/support/float-mlp.ts";
import { createRng } from "../../test/support/rng.ts";
import { type BenchChain, openBenchChain } from "../chain.ts";
import { MLP_DIMS, mlpInput } from "../tasks/mlp.ts";

export interface EzklLaneFigures {
  readonly target: CalibrationTarget;
  /** calibration, circuit, keys and verifier; the SRS, which serves all circuits of its size, is not in it */
  readonly setupSeconds: number;
  readonly srsSeconds: number;
  /** witness, proof and calldata */
  readonly secondsPerResult: number;
  /** greatest resident memory of the process that proves */
  readonly memoryBytes: number;
  /** proving key */
  readonly keyBytes: number;
  readonly proofBytes: number;
  /** verifier contract, key and registration */
  readonly gasSetup: bigint;
  /** request and settlement, whole transactions */
  readonly gasPerResult: bigint;
  readonly gasSettle: bigint;
  readonly logrows: number;
  readonly scaleBits: number;
  /** largest difference of an output from the float network */
  readonly largestError: number;
}

const SEED = 256_64_32_2;

/** @param data folder in which ezkl is installed @returns undefined without ezkl */
export async function measureEzkl(
  data: string,
  target: CalibrationTarget,
): Promise<EzklLaneFigures | undefined> {
  const folder = resolve(data, "ezkl");
  if (!existsSync(pythonOf(folder))) return undefined;
  const scratch = mkdtempSync(join(tmpdir(), "assay-bench-ezkl-"));
  const chain = await openBenchChain();
  try {
    return await measure(folder, join(scratch, "mlp"), target, chain);
  } finally {
    await chain.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function measure(
  folder: string,
  directory: string,
  target: CalibrationTarget,
  chain: BenchChain,
): Promise<EzklLaneFigures> {
  const layers = randomLayers(createRng(SEED), MLP_DIMS);
  const stages: StageCost[] = [];
  const options = { folder, onStage: (cost: StageCost) => stages.push(cost) };
  const onnx = mlpFile(layers);
  await addEzklModel({
    ...options,
    name: "mlp",
    directory,
    onnx,
    compile: compileVerifier,
    target,
    range: [0, 1],
  });
  const isSrs = ({ name }: StageCost): boolean => name.includes("SRS");
  const seconds = (costs: readonly StageCost[]): number => costs.reduce((sum, cost) => sum + cost.seconds, 0);
  const [srsSeconds, setupSeconds] = [
    seconds(stages.filter(isSrs)),
    seconds(stages.filter((s) => !isSrs(s))),
  ];

  const model = loadProofModel(directory);
  const { assay } = model.manifest;
  const picture = [...mlpInput(createRng(SEED))].map((byte) => byte / 255);
  const start = performance.now();
  const calldata = encodeCalldata(fromHex(assay.selector), toFixedPoint(assay.inputs, { x: picture }));
  const submitter = accountAt(0);
  const binding = bindingSignal({
    chainId: chain.chain.game.chainId,
    proofLane: proofLaneOf(chain.chain),
    modelId: model.modelId,
    submitter: submitter.address,
  });
  const proven = await proveEzkl(options, model, calldata, binding);
  const { verifier } = await verifierOf(chain.chain, model);
  const evidence = encodeEvidence(verifier, proven.proof);
  const secondsPerResult = (performance.now() - start) / 1000;

  const gasSetup = await register(chain, model);
  const gas = await settle(chain, model, toHex(calldata), proven.output, evidence);
  const { y = [] } = fromFixedPoint(assay.outputs, outputNumbers(fromHex(proven.output)));
  const errors = runLayers(layers, picture).map((value, i) => Math.abs(value - (y[i] ?? Number.NaN)));
  return {
    target,
    setupSeconds,
    srsSeconds,
    secondsPerResult,
    memoryBytes: proven.memoryBytes,
    keyBytes: statSync((await modelKeys(options, model)).pk).size,
    proofBytes: proven.proof.length / 2 - 1,
    gasSetup,
    gasPerResult: gas.request + gas.settle,
    gasSettle: gas.settle,
    logrows: assay.ezkl.logrows,
    scaleBits: model.key.inputs[0]?.scaleBits ?? 0,
    largestError: Math.max(...errors),
  };
}

/** @returns gas of verifier, key and registration */
async function register(chain: BenchChain, model: ProofModel): Promise<bigint> {
  const { assay } = model.manifest;
  const { verifiers } = await verifierOf(chain.chain, model);
  const steps: readonly (readonly [Address, Hex])[] = [
    [
      verifiers,
      encodeFunctionData({
        abi: iEzklVerifiersAbi,
        functionName: "create",
        args: [model.verifier.initCode as Hex],
      }),
    ],
    [
      proofLaneOf(chain.chain),
      encodeFunctionData({ abi: iProofLaneAbi, functionName: "storeKey", args: [toHex(model.keyBytes)] }),
    ],
    [
      chain.chain.deployment.contracts.registry,
      encodeFunctionData({
        abi: iModelRegistryAbi,
        functionName: "registerProofModel",
        args: [assay.selector as Hex, model.inputs, model.outputs, assay.vkHash as Hex],
      }),
    ],
  ];
  let gas = 0n;
  for (const [to, data] of steps) {
    const { receipt } = await chain.send(accountAt(0), { key: "register", to, data, value: 0n, doneBy: [] });
    gas += receipt.gasUsed;
  }
  return gas;
}

async function settle(chain: BenchChain, model: ProofModel, input: Hex, output: Hex, evidence: Hex) {
  const now = await chain.now();
  const request: Request = {
    requester: accountAt(1).address,
    modelId: model.modelId as ModelId,
    inputHash: keccak256(input),
    lanes: LANE.PROOF,
    fee: 1_000n,
    deliveryFee: 0n,
    minBond: 0n,
    window: 2_400,
    expiry: now + 3_600,
    exclusiveProver: ZERO_ADDRESS,
    exclusiveUntil: 0,
    callback: ZERO_ADDRESS,
    callbackGas: 0,
    salt: 1n,
  };
  const filed = await chain.send(accountAt(1), chain.actions.request(request, input));
  const action = chain.actions.settle(request, undefined, LANE.PROOF, input, output, evidence);
  const settled = await chain.send(accountAt(0), action);
  return { request: filed.receipt.gasUsed, settle: settled.receipt.gasUsed };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const target of ["resources", "accuracy"] as const) {
    const figures = await measureEzkl(process.argv[2] ?? "data", target);
    console.log(figures ?? "ezkl is not installed: run `assay proof ezkl install`");
  }
}
