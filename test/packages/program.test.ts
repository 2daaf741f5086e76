import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packedFile } from "../../tools/packages/pack.ts";
import { type Ended, FreshProject, NODES, sizeOf } from "../support/fresh-project.ts";
import { keyOf, ROLES } from "../support/system.ts";

const ASSAY = packedFile("assay");
const PROGRAM = "node_modules/assay/dist/main.mjs";
/** Of forecast-vix: three rows of 64 scaled prices. */
const INPUTS = JSON.stringify({
  prices: { type: "int32", dims: [3, 64], data: Array.from({ length: 192 }, (_, i) => (i % 7) - 3) },
});
/** The sources of this repository with its packages took 852 MB. */
const MOST_BYTES = 150 * 2 ** 20;
const megabytes = (project: FreshProject) => sizeOf(project.path("node_modules")) / 2 ** 20;

describe("assay, packed, without any of its extras", () => {
  let bare: FreshProject;
  beforeAll(() => {
    bare = new FreshProject();
    bare.write("package.json", "{}");
    bare.install([ASSAY]);
  });
  afterAll(() => bare?.remove());

  it("default: is small", () => {
    console.log(`assay installed: ${megabytes(bare).toFixed(0)} MB`);
    expect(sizeOf(bare.path("node_modules"))).toBeLessThan(MOST_BYTES);
  });

  for (const { name, by } of NODES)
    it(`default: on ${name} shows its help, and runs a model by the canonical executor`, async () => {
      const help = await bare.node([PROGRAM, "--help"], { by });
      expect(help).toMatchObject({ status: 0, stderr: "", stdout: expect.stringContaining("Usage: assay") });
      bare.write("inputs.json", INPUTS);
      const run = await bare.node([PROGRAM, "model", "run", "forecast-vix", "--inputs", "inputs.json"], {
        by,
      });
      expect(run).toMatchObject({ status: 0, stderr: "" });
    });

  it("error: a command that needs an extra names it", async () => {
    const { status, stderr } = await bare.node([PROGRAM, "node", "anvil"]);
    expect(status).not.toBe(0);
    expect(stderr).toContain("npm install @foundry-rs/anvil");
  });
});

describe("assay, packed, on a local chain", () => {
  let project: FreshProject;
  const running: { kill: () => void }[] = [];
  const env = { ASSAY_RPC_URL: "", ASSAY_KEY: keyOf(ROLES.deployer) };

  /** Starts a command that stays. @returns what `read` finds in one of its lines */
  function start<T>(
    args: readonly string[],
    read: (line: string) => T | undefined,
    more: Readonly<Record<string, string>> = {},
  ): Promise<T> {
    const node = NODES.at(-1)?.by;
    const child = spawn(node?.node ?? "", [PROGRAM, ...args], {
      cwd: project.folder,
      env: { ...node?.env, ...env, ...more },
      stdio: ["ignore", "pipe", "pipe"],
    });
    running.push({ kill: () => child.kill() });
    return new Promise((resolve, reject) => {
      let log = "";
      for (const stream of [child.stdout, child.stderr])
        createInterface({ input: stream }).on("line", (line) => {
          log += `${line}\n`;
          const found = read(line);
          if (found !== undefined) resolve(found);
        });
      child.once("exit", (code) => reject(new Error(`${args.join(" ")} ended with ${code}:\n${log}`)));
    });
  }
  const assay = (...args: readonly string[]): Promise<Ended> => project.node([PROGRAM, ...args], { env });
  async function does(...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await assay(...args);
    expect({ args, status, stderr: status === 0 ? "" : stderr }).toEqual({ args, status: 0, stderr: "" });
    return stdout;
  }

  beforeAll(async () => {
    project = new FreshProject();
    project.write("package.json", "{}");
    // The script of onnxruntime-node downloads what GPUs need, from elsewhere than the registry.
    project.install([ASSAY, "@foundry-rs/anvil@1.7.1", "onnxruntime-node@1.30.0", "--ignore-scripts"]);
    env.ASSAY_RPC_URL = await start(
      ["node", "anvil", "--port", "0"],
      (line) => /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0],
    );
  });
  afterAll(() => {
    for (const child of running.reverse()) child.kill();
    project?.remove();
  });

  it("default: deploys, registers, publishes, serves and asks, in an empty folder", async () => {
    await does("deploy", "--answer-seconds", "1");
    await does("model", "register", "sentiment");
    await start(["prover", "--port", "0"], (line) => line.includes("prover is up") || undefined, {
      ASSAY_DATA: "prover-data",
      ASSAY_KEY: keyOf(ROLES.prover),
    });
    const asked = await does(
      ...["request", "sentiment", "--text", "Profit beats forecasts", "--wait", "--json"],
    );
    expect(JSON.parse(asked)).toMatchObject({ result: { values: { label: expect.anything() } } });
    await does("model", "publish", "sentiment");
    await does("model", "infer", "sentiment", "--text", "Profit falls");
    await does("audit");
  });

  it("default: imports a model, runs it by onnxruntime, and by the canonical executor", async () => {
    const file = "node_modules/assay/models/sentiment/model.onnx";
    await does("model", "import", file, "--codec", "text", "--out", "models/mine");
    await does("model", "verify", "mine");
    project.write("inputs.json", INPUTS);
    const run = (engine: string) =>
      does("model", "run", "forecast-vix", "--inputs", "inputs.json", "--engine", engine, "--json");
    const [fast, canonical] = [await run("onnxruntime"), await run("canonical")];
    expect(JSON.parse(fast).outputs).toEqual(JSON.parse(canonical).outputs);
  });
});
