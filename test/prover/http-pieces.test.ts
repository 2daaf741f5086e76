/** POST /v1/tools/:name with a text for a classifier by word pieces; `assay request` and the SDK make the same of it. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pieceValues } from "../../agent/sdk/text.ts";
import { toHex } from "../../base/bytes.ts";
import { readInputs } from "../../cli/request.ts";
import { loadModelFolder } from "../../inference/model-folder.ts";
import type { PieceText } from "../../inference/text/piece-text.ts";
import { encodeCall } from "../../protocol/rules/abi.ts";
import { type ServedProgram, serveModels } from "../../prover/models.ts";
import { writeClassifying } from "../support/classifying-model.ts";
import { JSON_TYPE, models, post, prover, serveForTests } from "../support/http-prover.ts";
import { documentOf, expectDocumented } from "../support/openapi.ts";

serveForTests();

const root = mkdtempSync(join(tmpdir(), "assay-pieces-"));
let model: ServedProgram;
beforeAll(() => {
  [model] = serveModels([loadModelFolder(writeClassifying(root))]).values() as unknown as [ServedProgram];
  models.set(model.id, model);
});
afterAll(() => {
  models.delete(model.id);
  rmSync(root, { recursive: true });
});

const ask = (body: object) => post(`/v1/tools/${model.id}`, JSON.stringify(body), JSON_TYPE);
const called = () => ({ ...model.function, selector: toHex(model.selector) });

describe("POST /v1/tools/:name with a text", () => {
  test("default: scores, of the calldata that the SDK and the command make", async () => {
    const document = await documentOf(prover.server.url);
    const response = await ask({ text: "a Bab" });
    const answer = await expectDocumented(document, "POST /v1/tools/{name}", response);
    const values = pieceValues({ function: called() }, model.pieces as PieceText, "a Bab");
    const calldata = encodeCall(called(), values);
    expect(answer).toMatchObject({
      status: "unverified",
      inputHash: keccak256(calldata),
      result: { down: expect.any(String), up: expect.any(String) },
    });
    const asked = { function: called(), pieces: model.pieces as PieceText };
    expect(readInputs(asked, { text: "a Bab" })).toEqual(values);
    const models = await fetch(`${prover.server.url}/v1/models/${model.id}`);
    expect(await expectDocumented(document, "GET /v1/models/{id}", models)).toMatchObject({
      pieces: 12,
    });
  });

  test("args: ids by name go on", async () => {
    const { ids } = pieceValues({ function: called() }, model.pieces as PieceText, "a") as {
      readonly ids: readonly bigint[];
    };
    const [byName, byText] = await Promise.all([ask({ ids: ids.map(String) }), ask({ text: "a" })]);
    expect(((await byName.json()) as { inputHash: string }).inputHash).toBe(
      ((await byText.json()) as { inputHash: string }).inputHash,
    );
  });

  test.each<[string, string, object]>([
    ["a text that is too long", "TEXT_TOO_LONG", { text: "a ".repeat(50) }],
    ["a number as text", "TEXT_INVALID", { text: 5 }],
    ["a conversation", "MODEL_WITHOUT_TEXT", { messages: [{ role: "user", content: "a" }] }],
  ])("error: %s", async (_, code, body) => {
    const response = await ask(body);
    const { error } = (await response.json()) as { readonly error: { readonly code: string } };
    expect(error.code).toBe(code);
    expect(response.status).toBeGreaterThanOrEqual(400);
    expect(response.status).toBeLessThan(500);
  });
});
