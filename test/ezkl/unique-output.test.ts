/** Can a prover choose among several outputs of one input? With ezkl's rounding, yes: shown by a prover whose ezkl rounds
 *  another way. So no circuit with it is made. Before it `assay proof ezkl install --data build/ezkl-data` ran. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { circuitOnnx } from "../../prover/proof/ezkl/circuit-onnx.ts";
import { loadProofModel } from "../../prover/proof/ezkl/folder.ts";
import { pythonOf } from "../../prover/proof/ezkl/install.ts";
import { developmentSrsPath, makeKeys, parseSettings } from "../../prover/proof/ezkl/keys.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { runAssay } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { mlpFile, randomLayers } from "../support/float-mlp.ts";
import { longTest } from "../support/long-test.ts";
import { createRng } from "../support/rng.ts";

const data = join(projectRoot, "build/ezkl-data");
const options = { folder: join(data, "ezkl") };
const folder = temporaryFolder();
const onnx = mlpFile(randomLayers(createRng(21), [6, 4, 3]));
const files = { onnx: join(folder.path, "mlp.onnx"), added: join(folder.path, "mlp") };

const roundingSettings = (bytes: Uint8Array): Uint8Array => {
  const settings = JSON.parse(new TextDecoder().decode(bytes)) as { run_args: object };
  const run_args = { ...settings.run_args, scale_rebase_multiplier: 1, decomp_legs: 2 };
  return new TextEncoder().encode(JSON.stringify({ ...settings, run_args }));
};

interface Run {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly isShown: boolean;
  readonly isAccepted: boolean;
}

/** One input proven by ezkl and by an ezkl that rounds another way. Undefined where that cannot be made here. */
function proveTwice(
  name: string,
  settings: Uint8Array,
): Readonly<Record<"honest" | "liar", Run>> | undefined {
  const at = join(folder.path, name);
  mkdirSync(at);
  writeFileSync(join(at, "settings.json"), settings);
  const circuit = join(at, "circuit.onnx");
  writeFileSync(circuit, circuitOnnx(onnx).bytes);
  // Multiples of 2^-10, which nobody rounds.
  const input = [101, -355, 77, 512, -1000, 333].map((n) => n / 1024);
  writeFileSync(join(at, "data.json"), JSON.stringify({ input_data: [input, Array(16).fill(0)] }));
  const srs = developmentSrsPath(options.folder, parseSettings(settings).run_args.logrows);
  const script = join(projectRoot, "test/ezkl/lying_prover.py");
  const run = spawnSync(pythonOf(options.folder), [script, at, circuit, srs], { encoding: "utf8" });
  if (run.status === 3) return undefined;
  const answer = /^RESULT (.*)$/m.exec(run.stdout)?.[1];
  if (answer === undefined) throw new Error(`${run.status}: ${run.stderr}`);
  return JSON.parse(answer) as ReturnType<typeof proveTwice>;
}

let settings: Uint8Array;

beforeAll(async () => {
  writeFileSync(files.onnx, onnx);
  const args = ["proof", "ezkl", "add", files.onnx, "--out", files.added, "--data", data, "--scales", "10"];
  const added = await runAssay(args);
  expect(added.code, added.stderr).toBe(0);
  settings = loadProofModel(files.added).settings;
});

afterAll(() => folder.remove());

/** Settings of the same model as ezkl makes them by itself. */
function ezklSettings(): Uint8Array {
  const at = join(folder.path, "own");
  mkdirSync(at, { recursive: true });
  const circuit = join(at, "circuit.onnx");
  writeFileSync(circuit, circuitOnnx(onnx).bytes);
  const script = `import ezkl, sys
args = ezkl.PyRunArgs()
args.input_visibility = args.output_visibility = "public"
args.param_visibility = "fixed"
args.input_scale = args.param_scale = 10
args.logrows = 15
assert ezkl.gen_settings(sys.argv[1], sys.argv[2], py_run_args=args)`;
  const path = join(at, "settings.json");
  const run = spawnSync(pythonOf(options.folder), ["-c", script, circuit, path], { encoding: "utf8" });
  if (run.status !== 0) throw new Error(run.stderr);
  return new Uint8Array(readFileSync(path));
}

describe("makeKeys", () => {
  // What ezkl itself does, as it is installed: no change here changes it.
  longTest("behavior: a circuit that rounds proves two outputs of one input", ({ skip }) => {
    const made = proveTwice("rounding", ezklSettings());
    if (made === undefined) return skip("this machine's ezkl holds no constant by which it rounds");
    const { honest, liar } = made;
    expect(liar.inputs).toEqual(honest.inputs);
    expect(liar.outputs).not.toEqual(honest.outputs);
    for (const run of [honest, liar]) expect(run).toMatchObject({ isShown: true, isAccepted: true });
  });

  longTest("behavior: the same prover has no other output where nothing is rounded", ({ skip }) => {
    const made = proveTwice("unrounded", settings);
    if (made === undefined) return skip("this machine's ezkl holds no constant by which it rounds");
    const { honest, liar } = made;
    expect(liar.inputs).toEqual(honest.inputs);
    expect(liar.outputs).toEqual(honest.outputs);
    expect(honest).toMatchObject({ isShown: true, isAccepted: true });
  });

  it("error: settings by which ezkl rounds", async () => {
    for (const rounding of [ezklSettings(), roundingSettings(settings)]) {
      await expect(makeKeys(options, circuitOnnx(onnx).bytes, rounding)).rejects.toMatchObject({
        code: "EZKL_OUTPUT_NOT_UNIQUE",
        shortMessage: expect.stringContaining("REBASED (div=1024"),
      });
    }
  });
});

describe("parseSettings", () => {
  it("error: a scale to round to, which ezkl's table does not show", () => {
    const held = JSON.parse(new TextDecoder().decode(settings)) as { run_args: object };
    const changed = { ...held, run_args: { ...held.run_args, rebase_scale: 10 } };
    expect(() => parseSettings(settings)).not.toThrow();
    expect(() => parseSettings(new TextEncoder().encode(JSON.stringify(changed)))).toThrow("no rounding");
  });
});

describe("assay proof ezkl add", () => {
  it("error: settings by which ezkl rounds leave no folder", async () => {
    const path = join(folder.path, "rounding.json");
    writeFileSync(path, roundingSettings(settings));
    const out = join(folder.path, "refused");
    const args = ["proof", "ezkl", "add", files.onnx, "--settings", path, "--out", out, "--data", data];
    const refused = await runAssay(args);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /leave the prover a choice of outputs: REBASED .*\nnext: Add the model again/s,
    );
    expect(existsSync(out)).toBe(false);
  });
});
