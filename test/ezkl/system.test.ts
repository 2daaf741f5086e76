/** The whole way of float models with real processes: add, prove, settle on a real chain. Before it
 *  `assay proof ezkl install --data build/ezkl-data` ran (tools/named-suite.ts). */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { Actions } from "../../protocol/chain/actions.ts";
import { proofLaneOf } from "../../protocol/chain/proof/store-key.ts";
import { ezklBinding } from "../../protocol/rules/proof/public-signals.ts";
import { LANE, type ModelId, type Request, ZERO_ADDRESS } from "../../protocol/rules/types.ts";
import { circuitOnnx } from "../../prover/proof/ezkl/circuit-onnx.ts";
import { loadProofModel, type ProofModel } from "../../prover/proof/ezkl/folder.ts";
import { installEzkl, pythonOf } from "../../prover/proof/ezkl/install.ts";
import {
  bindingNumbers,
  encodeCalldata,
  encodeEvidence,
  outputBytes,
  outputNumbers,
  signedElement,
} from "../../prover/proof/ezkl/instances.ts";
import { makeKeys } from "../../prover/proof/ezkl/keys.ts";
import { type EzklProof, modelKeys, proveEzkl, verifyEzkl } from "../../prover/proof/ezkl/prove.ts";
import { registerEzkl, verifierOf } from "../../prover/proof/ezkl/register.ts";
import { fromFixedPoint, toFixedPoint } from "../../prover/proof/ezkl/values.ts";
import { runStage } from "../../prover/proof/ezkl/worker.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { startLocalChain } from "../support/anvil.ts";
import { runAssay } from "../support/assay.ts";
import { openLocalSystem, temporaryFolder } from "../support/deploy.ts";
import { mlpFile, randomLayers, runLayers } from "../support/float-mlp.ts";
import { longTest } from "../support/long-test.ts";
import { windowNumbers } from "../support/make-ezkl-vectors.ts";
import { createRng } from "../support/rng.ts";

const data = join(projectRoot, "build/ezkl-data");
const options = { folder: join(data, "ezkl") };
const WIDTHS = [20, 8, 5];
const layers = randomLayers(createRng(11), WIDTHS);
const otherLayers = randomLayers(createRng(12), WIDTHS);
const input = Array.from({ length: 20 }, (_, i) => Math.sin(i) * 0.9);

let local: Awaited<ReturnType<typeof startLocalChain>>;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
const folder = temporaryFolder();
let model: ProofModel;
let calldata: Uint8Array;
let proven: EzklProof;
let evidence: Hex;
let request: Request;

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
  const file = join(folder.path, "mlp.onnx");
  writeFileSync(file, mlpFile(layers));
  const out = join(folder.path, "mlp");
  const args = ["proof", "ezkl", "add", file, "--out", out, "--data", data, "--target", "accuracy", "--json"];
  const added = await runAssay(args);
  expect(added.stderr).toMatch(/calibrate: [\d.]+ s\n.*compile the circuit: [\d.]+ s\n/s);
  expect(added.code, added.stderr).toBe(0);
  model = loadProofModel(out);
  expect((JSON.parse(added.stdout) as { modelId: string }).modelId).toBe(model.modelId);
  calldata = encodeCalldata(
    fromHex(model.manifest.assay.selector),
    toFixedPoint(model.manifest.assay.inputs, { x: input }),
  );
  const { verifier } = await registerEzkl(system.chain, system.sender, model);
  proven = await proveEzkl(options, model, calldata, binding());
  evidence = encodeEvidence(verifier, proven.proof);
  request = await fileRequest(toHex(calldata));
});

afterAll(async () => {
  await system?.close();
  await local?.stop();
  folder.remove();
});

/** What ties a proof to the account that settles here. */
function binding(submitter = system.chain.account.address): bigint {
  return ezklBinding({
    chainId: system.chain.game.chainId,
    proofLane: proofLaneOf(system.chain),
    modelId: model.modelId,
    submitter,
  });
}

/** Files a request for the model. */
async function fileRequest(held: Hex): Promise<Request> {
  const filed: Request = {
    requester: system.chain.account.address,
    modelId: model.modelId as ModelId,
    inputHash: keccak256(held),
    lanes: LANE.PROOF,
    fee: 1_000n,
    deliveryFee: 0n,
    minBond: 0n,
    window: 20,
    expiry: (await local.now()) + 3_600,
    exclusiveProver: ZERO_ADDRESS,
    exclusiveUntil: 0,
    callback: ZERO_ADDRESS,
    callbackGas: 0,
    salt: 1n,
  };
  const actions = new Actions(system.chain.game);
  expect(await system.sender.send(actions.request(filed, held))).toMatchObject({ status: "sent" });
  return filed;
}

const settle = (output: Hex, proof: Hex) =>
  system.sender.send(
    new Actions(system.chain.game).settle(request, undefined, LANE.PROOF, toHex(calldata), output, proof),
  );

/** Why Assay refuses a settlement. */
async function refusal(output: Hex, proof: Hex): Promise<string> {
  const result = await settle(output, proof);
  return result.status === "refused" ? result.revert.name : result.status;
}

describe("installEzkl", () => {
  it("behavior: again changes nothing", async () => {
    expect(await installEzkl({ folder: options.folder })).toMatchObject({ version: "23.0.5", isNew: false });
  });
});

describe("addEzklModel", () => {
  it("behavior: the circuit is close to the float network", () => {
    const numbers = outputNumbers(fromHex(proven.output));
    const { y = [] } = fromFixedPoint(model.manifest.assay.outputs, numbers);
    const expected = runLayers(layers, input);
    const errors = expected.map((value, i) => Math.abs(value - (y[i] ?? Number.NaN)));
    expect(Math.max(...errors)).toBeLessThan(0.02);
    expect(Math.max(...expected.map(Math.abs))).toBeGreaterThan(0.1);
  });

  it("error: a model that ezkl cannot read leaves no folder", async () => {
    const out = join(folder.path, "broken");
    const file = join(folder.path, "broken.onnx");
    writeFileSync(file, mlpFile(layers).subarray(0, 200));
    const result = await runAssay(["proof", "ezkl", "add", file, "--out", out, "--data", data]);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/^error: /);
    expect(existsSync(out)).toBe(false);
  });
});

describe("proveEzkl", () => {
  it("behavior: ezkl itself accepts the proof of this statement alone", async () => {
    const [output, proof] = [fromHex(proven.output), fromHex(proven.proof)];
    const check = (held: Uint8Array, shown: Uint8Array, bound: bigint) =>
      verifyEzkl(options, model, calldata, held, shown, bound);
    expect(await check(output, proof, binding())).toBe(true);
    expect(await check(output.with(31, (output[31] ?? 0) ^ 1), proof, binding())).toBe(false);
    expect(await check(output, proof.with(700, (proof[700] ?? 0) ^ 1), binding())).toBe(false);
    expect(await check(output, proof, binding(ZERO_ADDRESS))).toBe(false);
    expect(await check(output.with(0, 1), proof, binding())).toBe(false);
  });

  it("behavior: keys of the shipped model are those of its manifest, and its verifier is what ezkl writes", async () => {
    const shipped = loadProofModel(join(projectRoot, "models/forecast-ezkl"));
    const keys = await modelKeys(options, shipped);
    const solidity = join(folder.path, "verifier.sol");
    await runStage({ python: pythonOf(options.folder) }, "verifier", { ...keys, solidity });
    const { compileVerifier } = await import("../../cli/proof/compile-verifier.ts");
    const { initCode, code } = await compileVerifier(readFileSync(solidity, "utf8"));
    expect({ initCode, code }).toEqual({
      initCode: shipped.verifier.initCode,
      code: shipped.verifier.code,
    });
    const vector = JSON.parse(readFileSync(join(projectRoot, "test/vectors/ezkl.json"), "utf8")) as {
      output: Hex;
    };
    const held = encodeCalldata(fromHex(shipped.manifest.assay.selector), windowNumbers());
    expect((await proveEzkl(options, shipped, held, 5n)).output).toBe(vector.output);
  });

  it("error: keys that are not the manifest's", async () => {
    const assay = model.manifest.assay;
    const ezkl = { ...assay.ezkl, vkSha256: "00".repeat(32) };
    const changed = { ...model, manifest: { ...model.manifest, assay: { ...assay, ezkl } } };
    await expect(proveEzkl(options, changed, calldata, binding())).rejects.toThrow(
      /^SHA-256 of the verification key is/,
    );
  });

  it("error: cancelled", async () => {
    const signal = AbortSignal.abort();
    await expect(proveEzkl({ ...options, signal }, model, calldata, binding())).rejects.toThrow(
      "was cancelled",
    );
  });
});

describe("settle", () => {
  it("error: every wrong output", async () => {
    const numbers = outputNumbers(fromHex(proven.output));
    for (const i of numbers.keys()) {
      for (const change of [1n, -1n]) {
        const wrong = toHex(outputBytes(numbers.with(i, (numbers[i] ?? 0n) + change)));
        expect(await refusal(wrong, evidence)).toBe("EvidenceRejected");
      }
    }
  });

  it("error: a tampered proof", async () => {
    const bytes = fromHex(evidence);
    for (const at of [3, 20, 52, 400, 1_500, bytes.length - 1]) {
      const tampered = toHex(bytes.with(at, (bytes[at] ?? 0) ^ 4));
      expect(await refusal(proven.output, tampered)).toBe("EvidenceRejected");
    }
  });

  it("error: a proof for another submitter, and of another input", async () => {
    const { verifier } = await verifierOf(system.chain, model);
    const foreign = await proveEzkl(options, model, calldata, binding(ZERO_ADDRESS));
    expect(foreign.output).toBe(proven.output);
    expect(await refusal(foreign.output, encodeEvidence(verifier, foreign.proof))).toBe("EvidenceRejected");
    const numbers = toFixedPoint(model.manifest.assay.inputs, { x: input.with(3, 0.5) });
    const other = encodeCalldata(fromHex(model.manifest.assay.selector), numbers);
    const { output, proof } = await proveEzkl(options, model, other, binding());
    expect(output).not.toBe(proven.output);
    expect(await refusal(output, encodeEvidence(verifier, proof))).toBe("EvidenceRejected");
  });

  /** Weights are part of the key: a prover who takes others has no proof. */
  longTest("error: a proof with other weights", async () => {
    const worker = { python: pythonOf(options.folder) };
    const keys = await modelKeys(options, model);
    const other = await makeKeys(options, circuitOnnx(mlpFile(otherLayers)).bytes, model.settings);
    const files = {
      data: join(folder.path, "data.json"),
      witness: join(folder.path, "witness.json"),
      proof: join(folder.path, "proof.json"),
    };
    const bits = model.key.inputs[0]?.scaleBits ?? 0;
    const scaled = (numbers: readonly number[]): number[] => numbers.map((n) => n / 2 ** bits);
    const lanes = toFixedPoint(model.manifest.assay.inputs, { x: input });
    const tensors = [scaled(lanes), scaled(bindingNumbers(binding()))];
    writeFileSync(files.data, JSON.stringify({ input_data: tensors }));
    const cheat = { ...keys, ...files, circuit: other.circuit };
    const witness = await runStage(worker, "witness", cheat);
    const output = toHex(outputBytes(witness.outputs.flat().map(signedElement)));
    expect(output).not.toBe(proven.output);
    rmSync(files.proof, { force: true });
    const made = await runStage(worker, "prove", cheat);
    const { verifier } = await verifierOf(system.chain, model);
    expect(await refusal(output, encodeEvidence(verifier, made.proof as Hex))).toBe("EvidenceRejected");
    expect(await verifyEzkl(options, model, calldata, fromHex(output), fromHex(made.proof), binding())).toBe(
      false,
    );
  });

  it("default", async () => {
    expect(await settle(proven.output, evidence)).toMatchObject({ status: "sent" });
    const [final] = await system.chain.client.getContractEvents({
      address: system.deployment.contracts.assay,
      abi: [
        {
          type: "event",
          name: "Finalized",
          inputs: [
            { name: "requestId", type: "bytes32", indexed: true },
            { name: "claimId", type: "bytes32", indexed: true },
            { name: "lane", type: "uint8" },
            { name: "outputHash", type: "bytes32" },
          ],
        },
      ],
      fromBlock: 0n,
    });
    expect(final?.args).toMatchObject({ lane: LANE.PROOF, outputHash: keccak256(proven.output) });
    expect(await refusal(proven.output, evidence)).not.toBe("sent");
  });
});
