/** The second implementation and the prover in Rust (`crates/`), beside what the nodes use. Needs cargo. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { concatBytes, equalBytes } from "../base/bytes.ts";
import { execute } from "../inference/executor/execute.ts";
import type { PreparedModel } from "../inference/executor/prepared-model.ts";
import { encodeProgram } from "../inference/program/encode.ts";
import { selfTestCalldata } from "../inference/self-test.ts";
import { openEmitted } from "../test/support/onnxruntime.ts";
import { buildExact, buildProver, buildWasm } from "../test/support/rust.ts";
import { projectRoot } from "../tools/foundry.ts";
import { measureCircuit, measureColdProofs, measureProofs } from "./lanes/circuit.ts";
import { measureEzkl } from "./lanes/ezkl.ts";
import { subjectOf } from "./lanes/subject.ts";
import { LAYER, layer, shippedModels } from "./models.ts";
import { EZKL, ONNXRUNTIME, SNARKJS } from "./peers.ts";
import { type Figure, grouped, type Measured, type Part } from "./report.ts";
import { rustModule } from "./rust-module.ts";
import { MLP_DIMS } from "./tasks/mlp.ts";

const hasCargo = (): boolean => spawnSync("cargo", ["--version"]).status === 0;
const SKIPPED: readonly Figure[] = [{ name: "skipped", value: "there is no cargo" }];

const ROUNDS = 8;
const ROUND_MS = 40;

/** Microseconds of a call, the fastest of some rounds. */
async function fastest(call: () => unknown): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round <= ROUNDS; round++) {
    const start = performance.now();
    let runs = 0;
    for (; runs === 0 || performance.now() - start < ROUND_MS; runs++) await call();
    if (round > 0) best = Math.min(best, (1_000 * (performance.now() - start)) / runs);
  }
  return best;
}

/** Microseconds of a run by the native program. */
function native(program: string, { model }: PreparedModel, calldata: Uint8Array): number {
  const folder = mkdtempSync(join(tmpdir(), "assay-bench-rust-"));
  try {
    const files = [encodeProgram(model.program), concatBytes(...model.weights), calldata].map((bytes, i) => {
      const path = join(folder, `${i}`);
      writeFileSync(path, bytes);
      return path;
    });
    return Number(execFileSync(program, ["time", ...files], { encoding: "utf8" }));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function execution(): Promise<Measured> {
  if (!hasCargo()) return { figures: SKIPPED, rows: [] };
  const [program, wasmPath] = [buildExact(), buildWasm()];
  const wasm = wasmPath === undefined ? undefined : new Uint8Array(readFileSync(wasmPath));
  const rows: string[][] = [];
  for (const [name, prepared] of [[`layer ${LAYER}×${LAYER}`, layer()] as const, ...shippedModels()]) {
    const calldata = selfTestCalldata(prepared.program, prepared.selector, 0);
    const emitted = await openEmitted(prepared.model, {});
    const inputs = prepared.inputTensors(prepared.decode(calldata));
    const rust = wasm === undefined ? undefined : await rustModule(wasm, prepared.model, prepared.selector);
    if (rust !== undefined && !equalBytes(rust(calldata), execute(prepared, calldata)))
      throw new Error(`${name}: the module's output is another`);
    const times = [
      await fastest(() => execute(prepared, calldata)),
      await fastest(() => emitted.run(inputs)),
      rust === undefined ? Number.NaN : await fastest(() => rust(calldata)),
      native(program, prepared, calldata),
    ];
    await emitted.close();
    rows.push([name, ...times.map((time) => (Number.isNaN(time) ? "–" : grouped(Math.round(time))))]);
  }
  const columns = [
    "µs a run",
    "canonical executor",
    ONNXRUNTIME,
    "assay-exact, WebAssembly",
    "assay-exact, native",
  ];
  const figures =
    wasm === undefined ? [{ name: "WebAssembly", value: "skipped: the target is not installed" }] : [];
  return { figures, tables: [{ columns, rows }], rows: [] };
}

/** The measured child and all that it imports, as one file: snarkjs and its curves apart. */
async function bundleChild(folder: string): Promise<string> {
  const outfile = join(folder, "child.mjs");
  await build({
    ...{ entryPoints: [join(projectRoot, "bench/lanes/child.ts")], outfile, bundle: true, format: "esm" },
    ...{ platform: "node", target: "node20", external: ["snarkjs", "ffjavascript"], logLevel: "silent" },
  });
  return outfile;
}

const PROOFS = 6;
const COLD_PROOFS = 3;
const TARGETS = { warm: 20, cold: 5 };

async function proofs(): Promise<readonly Figure[]> {
  if (!hasCargo()) return SKIPPED;
  const program = buildProver();
  const subject = subjectOf(MLP_DIMS);
  const measured = await measureCircuit(subject);
  const cases = Array.from({ length: PROOFS }, () => subject.next());
  const cold = cases.slice(0, COLD_PROOFS);
  mkdirSync(join(projectRoot, "build"), { recursive: true });
  const folder = mkdtempSync(join(projectRoot, "build", "bench-child-"));
  try {
    const bundle = await bundleChild(folder);
    const ours = (await measureProofs(measured, subject, cases, 1n, program)).warmSeconds;
    const theirs = (await measureProofs(measured, subject, cases, 1n)).warmSeconds;
    const ourStart = await measureColdProofs(measured, subject, cold, 1n, { native: program, bundle });
    const theirStart = await measureColdProofs(measured, subject, cold, 1n, { bundle });
    const ezkl = await measureEzkl({ dims: MLP_DIMS, target: "resources", rounds: COLD_PROOFS, compared: 1 });
    const time = (name: string, seconds: number): Figure => ({ name, value: `${seconds.toFixed(3)} s` });
    const over = (name: string, factor: number, least: number): Figure => ({
      ...{ name, value: `${factor.toFixed(1)}×`, target: `≥ ${least}×`, isMet: factor >= least },
    });
    return [
      time("assay-prove, a result, process warm", ours),
      time(`${SNARKJS}, a result, process warm`, theirs),
      time("assay-prove, from the start of a process", ourStart),
      time(`${SNARKJS}, from the start of a process`, theirStart),
      ...(ezkl === undefined
        ? [{ name: EZKL, value: "skipped: it is not installed" }]
        : [
            time(`${EZKL}, a result, process warm`, ezkl.warmSeconds),
            time(`${EZKL}, from the start of a process`, ezkl.coldSeconds),
            over(`assay-prove over ${EZKL}, processes warm`, ezkl.warmSeconds / ours, TARGETS.warm),
            over(
              `assay-prove over ${EZKL}, processes just started`,
              ezkl.coldSeconds / ourStart,
              TARGETS.cold,
            ),
          ]),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const RUST_PARTS: readonly Part[] = [
  {
    name: "rust",
    title: "The second implementation, in Rust",
    method:
      "From calldata to return data, one thread, the fastest of some rounds. `crates/assay-exact` computes element by element as the specification reads; it judges nothing and no node uses it.",
    run: execution,
  },
  {
    name: "rust-prover",
    title: "Groth16 by assay-prove",
    method:
      "The perceptron of 18,496 multiply-accumulates, development keys, from calldata to evidence: medians. A process that is just started is a bundle that reads circuit and key from its disk and makes one result. All in one run.",
    run: proofs,
  },
];
