import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ANVIL_KEYS } from "../../cli/anvil.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { runAssay } from "../support/assay.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";

let system: System;
let url: string;
let environment: Record<string, string>;

beforeAll(async () => {
  // Models without proving keys: to make those takes a quarter of a minute, and cli/proof does it.
  system = await startSystem({ models: ["sentiment"], answerSeconds: 120 });
  const prover = system.daemon("prover", ROLES.prover, ["prover", "--port", "0"]);
  url = String((await prover.logged("prover is up")).url);
  environment = {
    ASSAY_RPC_URL: system.rpcUrl,
    ASSAY_DEPLOYMENT: join(system.folder, "deployment.json"),
    ASSAY_KEY: ANVIL_KEYS[ROLES.cheat] as string,
    ASSAY_DATA: join(system.folder, "registrar"),
    ASSAY_POLL_INTERVAL_MS: "50",
  };
});

afterAll(() => system.stop());

const pull = (id: string, out: string) => runAssay(["model", "pull", url, id, "--out", out, "--json"]);
const register = (folder: string) => runAssay(["model", "register", folder, "--json"], environment);
const errorOf = ({ stderr }: { stderr: string }) =>
  (JSON.parse(stderr.slice(stderr.indexOf("{"))) as { error: { code: string } }).error.code;

describe("assay model pull and register, as processes", () => {
  it("default: a pulled folder is the prover's, and is the model that is registered already", async () => {
    const { modelId } = system.model("sentiment");
    const out = join(system.folder, "pulled", "sentiment");
    const pulled = await pull(modelId, out);
    expect(pulled).toMatchObject({ code: 0 });
    expect(JSON.parse(pulled.stdout)).toMatchObject({ modelId, folder: out });
    for (const name of readdirSync(out)) {
      const served = readFileSync(join(system.folder, "models", "sentiment", name));
      expect(readFileSync(join(out, name)).equals(served), name).toBe(true);
    }
    expect(loadModelFolder(out).modelId).toBe(modelId);
    const registered = await register(out);
    expect(registered).toMatchObject({ code: 0 });
    expect(JSON.parse(registered.stdout)).toMatchObject({ modelId, isNew: false });
  });

  it("behavior: registers a model that the chain does not have, once", async () => {
    const { modelId } = loadModelFolder("models/credit");
    const first = await register("credit");
    expect(first).toMatchObject({ code: 0 });
    expect(JSON.parse(first.stdout)).toMatchObject({ modelId, isNew: true });
    expect(await new StateReader(system.chain).model(modelId as ModelId)).toBeDefined();
    expect(JSON.parse((await register("credit")).stdout)).toMatchObject({ modelId, isNew: false });
  });

  it("error: a folder that is there, a model that the prover has not, and no prover; nothing is left behind", async () => {
    const { modelId } = system.model("sentiment");
    const taken = await pull(modelId, join(system.folder, "models"));
    expect([taken.code, errorOf(taken)]).toEqual([2, "ARGUMENT_INVALID"]);
    const out = join(system.folder, "nothing");
    const unknown = await pull(`0x${"ab".repeat(32)}`, out);
    expect([unknown.code, errorOf(unknown)]).toEqual([1, "PULL_REFUSED"]);
    const nobody = await runAssay(["model", "pull", "http://127.0.0.1:1", modelId, "--out", out, "--json"]);
    expect([nobody.code, errorOf(nobody)]).toEqual([3, "PULL_FAILED"]);
    expect([out, `${out}.pulling`].some(existsSync)).toBe(false);
  });

  it("error: a folder whose files are not as its manifest says is not registered", async () => {
    const folder = join(system.folder, "tampered");
    cpSync("models/forecast-eth", folder, { recursive: true });
    const weights = readFileSync(join(folder, "weights.bin"));
    weights[100] = (weights[100] as number) ^ 1;
    writeFileSync(join(folder, "weights.bin"), weights);
    const refused = await register(folder);
    expect(refused).toMatchObject({ code: 1, stdout: "" });
    const { modelId } = loadModelFolder("models/forecast-eth");
    expect(await new StateReader(system.chain).model(modelId as ModelId)).toBeUndefined();
    rmSync(folder, { recursive: true });
  });
});
