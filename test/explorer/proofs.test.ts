import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeDeployment } from "../../protocol/chain/deployment-file.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import type { Claim } from "../../protocol/rules/types.ts";
import { runInProcess } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";
import { expectDocumented } from "../support/openapi.ts";
import { CALLDATA, type PlayedExplorer, startPlayedExplorer } from "../support/played-explorer.ts";

const folder = temporaryFolder();
const deployment = join(folder.path, "deployment.json");
let explorer: PlayedExplorer;
let { played, get, ask, document, fallen, final, active } = {} as PlayedExplorer;

beforeAll(async () => {
  explorer = await startPlayedExplorer(["output"]);
  ({ played, get, ask, document, fallen, final, active } = explorer);
  writeDeployment(deployment, played.chain.deployment);
});

afterAll(async () => {
  await explorer?.stop();
  folder.remove();
});

interface ProofFile {
  readonly header: Hex;
  readonly output: Hex;
  readonly nodes: readonly Hex[];
}

/** A file of the explorer, and the program's answer about it, which asks no node. */
async function checked(command: "receipt" | "claim", file: ProofFile, args: readonly string[] = []) {
  const path = join(folder.path, "file.json");
  writeFileSync(path, JSON.stringify(file));
  const block = keccak256(file.header);
  const options = ["--deployment", deployment, "--block", block, ...args, "--json"];
  const { code, stdout, stderr } = await runInProcess([command, "check", path, ...options], {});
  const printed = JSON.parse(stdout || stderr) as { readonly error?: { readonly code: string } };
  return { code, ...printed };
}

const requestPath = ({ requestId }: Claim, what: string) => `/v1/requests/${requestId}/${what}`;

describe("GET /v1/requests/{id}/receipt", () => {
  const receiptOf = async () =>
    (await ask("/v1/requests/{id}/receipt", requestPath(final, "receipt"))) as ProofFile;

  it("default: shows the final output, as `assay receipt check` says without a node", async () => {
    expect(await checked("receipt", await receiptOf(), ["--model", played.modelId])).toMatchObject({
      code: 0,
      requestId: final.requestId,
      claimId: played.idOf(final),
      lane: "BOND",
    });
  });

  it("behavior: another output, a node that is left out, another model or another block shows nothing", async () => {
    const receipt = await receiptOf();
    const codes = [
      await checked("receipt", { ...receipt, output: `${receipt.output.slice(0, -2)}7f` as Hex }),
      await checked("receipt", { ...receipt, nodes: receipt.nodes.slice(1) }),
      await checked("receipt", receipt, ["--model", `0x${"ab".repeat(32)}`]),
      await checked("receipt", receipt, ["--input-hash", keccak256("0x12")]),
      await checked("receipt", receipt, ["--block", `0x${"ab".repeat(32)}`]),
    ].map(({ code, error }) => [code, error?.code]);
    expect(codes).toEqual([
      [1, "WRONG_OUTPUT"],
      [1, "RECEIPT_UNPROVEN"],
      [1, "WRONG_MODEL"],
      [1, "WRONG_INPUT"],
      [1, "RECEIPT_UNPROVEN"],
    ]);
  });

  it("error: an output that is not final, a request without one, and one that is unknown", async () => {
    const open = await played.request(CALLDATA);
    await explorer.caughtUp();
    const answers = [];
    for (const id of [active.requestId, requestIdOf(played.chain.game, open), `0x${"ab".repeat(32)}`]) {
      const response = await get(`/v1/requests/${id}/receipt`);
      const body = await expectDocumented(document, "GET /v1/requests/{id}/receipt", response);
      answers.push([response.status, (body as { error: { code: string } }).error.code]);
    }
    expect(answers).toEqual([
      [503, "RECEIPT_UNPROVABLE"],
      [404, "REQUEST_UNANSWERED"],
      [404, "REQUEST_UNKNOWN"],
    ]);
  });
});

describe("GET /v1/requests/{id}/record", () => {
  const recordOf = async (claim: Claim) =>
    (await ask(
      "/v1/requests/{id}/record",
      `${requestPath(claim, "record")}?claim=${played.idOf(claim)}`,
    )) as ProofFile;

  it("default: shows how each claim ended, as `assay claim check` says without a node", async () => {
    const wrong = fallen.get("output") as Claim;
    expect(await checked("claim", await recordOf(wrong), ["--model", "sentiment"])).toMatchObject({
      code: 4,
      claimId: played.idOf(wrong),
      end: "FALLEN",
      fall: "OUTPUT",
      isRight: false,
    });
    expect(await checked("claim", await recordOf(final), ["--model", "sentiment"])).toMatchObject({
      code: 0,
      end: "FINAL",
      isRight: true,
    });
  });

  it("error: a claim of another request", async () => {
    const response = await get(`${requestPath(final, "record")}?claim=${played.idOf(active)}`);
    expect(response.status).toBe(404);
    expect(await expectDocumented(document, "GET /v1/requests/{id}/record", response)).toMatchObject({
      error: { code: "CLAIM_UNKNOWN" },
    });
  });
});
