/** docs/CEREMONY.md, "With many", command by command: from the powers of tau to a request that a proof settles. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { type LocalChain, startLocalChain } from "../support/anvil.ts";
import { runInProcess } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { onnxFile } from "../support/onnx-file.ts";

let local: LocalChain;
let folder: ReturnType<typeof temporaryFolder>;

beforeAll(async () => {
  local = await startLocalChain();
  folder = temporaryFolder();
});
afterAll(async () => {
  await local?.stop();
  folder?.remove();
});

const path = (name: string): string => join(folder.path, name);

async function assay(...args: string[]) {
  const result = await runInProcess([...args, "--json"], {
    ASSAY_RPC_URL: local.rpcUrl,
    ASSAY_KEY: ANVIL_KEYS[0] as string,
    ASSAY_DATA: path("data"),
    ASSAY_DEPLOYMENT: path("deployment.json"),
    ASSAY_POLL_INTERVAL_MS: "20",
  });
  expect(result, result.stderr).toMatchObject({ code: 0 });
  return JSON.parse(result.stdout);
}

/** The program that contributors run, in the folder of the ceremony. */
function snarkjs(...args: string[]): string {
  const program = join(projectRoot, "node_modules", "snarkjs", "build", "cli.cjs");
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder.path,
    encoding: "utf8",
  });
  expect(status, `${stdout}${stderr}`).toBe(0);
  return stdout;
}

/** Two numbers in, 5 a + 3 and 5 b - 1 out. */
const ONNX = onnxFile({
  nodes: [
    { op: "Mul", inputs: ["x", "five"], outputs: ["product"] },
    { op: "Add", inputs: ["product", "offset"], outputs: ["y"] },
  ],
  inputs: { x: { type: "int32", dims: [2] } },
  outputs: { y: "int32" },
  constants: {
    five: { type: "int32", dims: [2], data: [5, 5] },
    offset: { type: "int32", dims: [2], data: [3, -1] },
  },
});

test("default: two contributors and a beacon make a key, and a proof under it settles a request", async () => {
  const model = path("model");
  mkdirSync(model);
  writeFileSync(join(model, "model.onnx"), ONNX);
  const parameter = (name: string, type: string) => ({ name, type, description: name });
  const tool = {
    name: "Two lines",
    description: "Two linear functions.",
    version: "1.0.0",
    abi: [
      {
        type: "function",
        name: "lines",
        description: "Both values.",
        inputs: [parameter("numbers", "uint256[]")],
        outputs: [parameter("a", "int256"), parameter("b", "int256")],
      },
    ],
    import: { codec: "int16s", output: "words" },
  };
  const importAs = (lanes: readonly string[]) => {
    writeFileSync(join(model, "tool.json"), JSON.stringify({ ...tool, lanes }));
    return assay("model", "import", join(model, "model.onnx"), "--out", model);
  };
  await importAs(["BOND"]);

  const { domain } = await assay("proof", "circuit", model);
  const power = Math.log2(domain);
  snarkjs("powersoftau", "new", "bn128", String(power), "0.ptau");
  snarkjs("powersoftau", "contribute", "0.ptau", "1.ptau", "--name=first", "-e=one secret");
  snarkjs("powersoftau", "prepare", "phase2", "1.ptau", "pot.ptau");
  expect(snarkjs("powersoftau", "verify", "pot.ptau")).toContain("Powers of Tau Ok!");

  await assay("proof", "r1cs", model, "--out", path("circuit.r1cs"));
  const first = readFileSync(path("circuit.r1cs"));
  await assay("proof", "r1cs", model, "--out", path("again.r1cs"));
  expect(readFileSync(path("again.r1cs")).equals(first)).toBe(true);

  snarkjs("groth16", "setup", "circuit.r1cs", "pot.ptau", "0.zkey");
  snarkjs("zkey", "contribute", "0.zkey", "1.zkey", "--name=Ada", "-e=her secret");
  snarkjs("zkey", "contribute", "1.zkey", "2.zkey", "--name=Ben", "-e=his secret");
  const beacon = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";
  snarkjs("zkey", "beacon", "2.zkey", "final.zkey", beacon, "10", "--name=beacon");
  const checked = snarkjs("zkey", "verify", "circuit.r1cs", "pot.ptau", "final.zkey");
  for (const entry of ["Ada", "Ben", "beacon", "ZKey Ok!"]) expect(checked).toContain(entry);

  const key = path("final.zkey");
  const made = await assay("proof", "setup", model, "--key", key, "--out", model);
  expect(made).toMatchObject({ origin: "ceremony" });
  await importAs(["PROOF", "BOND"]);
  const { assay: identity } = JSON.parse(readFileSync(join(model, "manifest.json"), "utf8"));
  expect(identity).toMatchObject({ vkHash: made.vkHash, keyOrigin: "ceremony" });

  await assay("deploy", "--answer-seconds", "2");
  expect(await assay("model", "register", model)).toMatchObject({ modelId: identity.modelId, isNew: true });
  // Lane j of a word stands at bytes 2j, 2j + 1: 7 and -2.
  const word = (7n << 240n) | (0xfffen << 224n);
  writeFileSync(path("inputs.json"), JSON.stringify({ numbers: [word.toString()] }));
  const { requestId } = await assay("request", model, "--inputs", path("inputs.json"));
  const settled = await assay("settle", requestId, "--lane", "proof", "--model", model, "--key", key);
  expect(settled).toMatchObject({ lane: "PROOF", requests: [requestId] });
  const output = (settled.outputs as string[])[0] as string;
  expect([0, 1].map((i) => BigInt.asIntN(256, BigInt(`0x${output.slice(2 + 64 * i, 66 + 64 * i)}`)))).toEqual(
    [38n, -11n],
  );
});
