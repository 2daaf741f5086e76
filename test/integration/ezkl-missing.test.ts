/** A prover without ezkl: it says what to install, and everything else goes on. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { selfTestCalldata } from "../../inference/self-test.ts";
import { LANE } from "../../protocol/rules/types.ts";
import { loadProofModel } from "../../prover/proof/ezkl/folder.ts";
import { encodeCalldata } from "../../prover/proof/ezkl/instances.ts";
import { runAssay } from "../support/assay.ts";
import { windowNumbers } from "../support/make-ezkl-vectors.ts";
import { ROLES, type System, startSystem } from "../support/system.ts";

const NAME = "forecast-ezkl";
let system: System;
let url: string;
let ezkl: string;

beforeAll(async () => {
  system = await startSystem({ models: ["forecast-vix"], proofModels: [NAME], answerSeconds: 600 });
  ezkl = join(system.folder, "nothing");
  const args = ["prover", "--port", "0", "--ezkl", ezkl, "--keys", join(system.folder, "keys")];
  const prover = system.daemon("prover", ROLES.prover, args);
  url = String((await prover.logged("prover is up")).url);
  const logged = await prover.logged("no proofs of this model from here");
  expect(logged.reason).toMatch(/^ezkl is not installed: .* Install it with `assay proof ezkl install`\.$/);
});

afterAll(() => system?.stop());

const calldataOf = (): Uint8Array =>
  encodeCalldata(fromHex(system.proofModel(NAME).manifest.assay.selector), windowNumbers());

describe("a prover without ezkl", () => {
  it("default: the request waits, with the reason; other models are answered", async () => {
    const model = system.proofModel(NAME);
    const waiting = await system.ask({ model, calldata: calldataOf(), lanes: LANE.PROOF });
    const other = system.model("forecast-vix");
    const calldata = selfTestCalldata(other.model.program, other.selector, 1);
    const { requestId } = await system.ask({ model: other, calldata });
    await system.events.until("Claimed", ({ claim }) => claim.requestId === requestId);
    const view = await (await fetch(`${url}/v1/requests/${waiting.requestId}`)).json();
    expect(view).toMatchObject({ state: "OPEN", decision: { kind: "skip", code: "NO_LANE" } });
    expect((view as { decision: { reason: string } }).decision.reason).toContain("assay proof ezkl install");
    expect(existsSync(ezkl)).toBe(false);
  });

  it("behavior: the model's files can be taken from it", async () => {
    const { modelId } = system.proofModel(NAME);
    const out = join(system.folder, "pulled");
    const pulled = await runAssay(["model", "pull", url, modelId, "--out", out, "--json"]);
    expect(JSON.parse(pulled.stdout)).toMatchObject({ modelId, folder: out });
    for (const name of readdirSync(out)) {
      const served = readFileSync(join(system.folder, "models", NAME, name));
      expect(readFileSync(join(out, name)).equals(served), name).toBe(true);
    }
    expect(loadProofModel(out).modelId).toBe(modelId);
    writeFileSync(join(system.folder, "models", NAME, "README.md"), "another text");
    const changed = await runAssay(["model", "pull", url, modelId, "--out", join(system.folder, "again")]);
    expect(changed.code).toBe(1);
    expect(existsSync(join(system.folder, "again"))).toBe(false);
  });

  it("error: HTTP refuses to run the model, and shows no path of this machine", async () => {
    const headers = { "content-type": "application/octet-stream" };
    const body = Buffer.from(calldataOf());
    const answer = await fetch(`${url}/tools/${NAME}`, { method: "POST", body, headers });
    const text = await answer.text();
    expect([answer.status, JSON.parse(text).error.code]).toEqual([503, "MODEL_CANNOT_RUN"]);
    expect(text).not.toContain(system.folder);
    const quote = await fetch(`${url}/v1/quote?model=${NAME}`);
    expect([quote.status, ((await quote.json()) as { error: { code: string } }).error.code]).toEqual([
      503,
      "MODEL_CANNOT_RUN",
    ]);
  });
});
