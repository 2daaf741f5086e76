import { keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../base/bytes.ts";
import type { Account, Claim, Dispute, Overview, Request } from "../../explorer/api/types.ts";
import type { parseGlossary } from "../../explorer/read/glossary.ts";
import { decodeOutput } from "../../inference/codecs/output.ts";
import { tensorOf } from "../../inference/commit/commitments.ts";
import { elementCount, type Step } from "../../inference/program/form.ts";
import { iAssayAbi } from "../../protocol/rules/generated/abis.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import type { Claim as FiledClaim } from "../../protocol/rules/types.ts";
import { expectDocumented } from "../support/openapi.ts";
import { playerAddress } from "../support/played-claims.ts";
import {
  CALLDATA,
  MODEL,
  type PlayedExplorer,
  startPlayedExplorer,
  TEXT,
} from "../support/played-explorer.ts";

const { program } = MODEL.model;
/** Which faults are played: elements of steps of several opcodes, an input tensor, an output. */
const ELEMENTS = ["lookup", "dot", "requant", "arith", "reduce", "table"]
  .map((opcode) => program.steps.findLastIndex((step) => step.opcode === opcode))
  .filter((step) => step !== -1);
const FAULTS = [...ELEMENTS.map((step) => `element:${step}`), "codec:0", "output"];

let explorer: PlayedExplorer;
let { played, get, ask, caughtUp, document, local, fallen, final, active } = {} as PlayedExplorer;

beforeAll(async () => {
  explorer = await startPlayedExplorer(FAULTS);
  ({ played, get, ask, caughtUp, document, local, fallen, final, active } = explorer);
});

afterAll(() => explorer?.stop());

const claimOf = async (claim: FiledClaim) =>
  (await ask("/v1/claims/{id}", `/v1/claims/${played.idOf(claim)}`)) as Claim;
const disputeOf = async (claim: FiledClaim) =>
  (await ask("/v1/claims/{id}/dispute", `/v1/claims/${played.idOf(claim)}/dispute`)) as Dispute;

describe("GET /v1/overview", () => {
  it("default: counts by state and lane, and what the contract holds is its balance", async () => {
    const overview = (await ask("/v1/overview", "/v1/overview")) as Overview;
    expect(overview.requests).toEqual({ OPEN: FAULTS.length - 1, BUSY: 1, DONE: 1, REFUNDED: 0 });
    expect(overview.claims).toEqual({ ACTIVE: 1, FINAL: 1, FALLEN: FAULTS.length });
    expect(overview.falls).toMatchObject({ ELEMENT: ELEMENTS.length, CODEC: 1, OUTPUT: 1, TRUTH: 0 });
    expect(overview.finalByLane).toEqual({ EXECUTION: 0, PROOF: 0, BOND: 1 });
    const { client, game } = played.chain;
    expect(overview.holds.total).toBe(`${await client.getBalance({ address: game.assay })}`);
    expect(overview.finalitySeconds.BOND?.count).toBe(1);
    expect(overview.gasByLane.BOND?.count).toBe(FAULTS.length + 2);
    expect(overview.days.reduce((sum, { claims }) => sum + claims, 0)).toBe(FAULTS.length + 2);
  });
});

describe("GET /v1/claims/{id}", () => {
  it("default: a final claim with its timeline, gas and money", async () => {
    const claim = await claimOf(final);
    expect(claim).toMatchObject({
      state: "FINAL",
      prover: playerAddress("prover"),
      tickets: 0,
      hasDispute: false,
    });
    expect(claim.timeline.map(({ name }) => name)).toEqual(["Claimed", "Finalized", "Credited"]);
    const [claimed, , credited] = claim.timeline;
    expect(claimed?.money).toEqual([
      { account: playerAddress("prover"), amount: `${-final.bond}`, kind: "bond" },
    ]);
    expect(credited?.money[0]?.amount).toBe(`${final.bond + 10n ** 16n}`);
    const receipt = await played.chain.client.getTransactionReceipt({
      hash: claimed?.transaction as `0x${string}`,
    });
    expect(claimed?.gasUsed).toBe(Number(receipt.gasUsed));
    expect(claimed?.transactionFee).toBe(`${receipt.gasUsed * receipt.effectiveGasPrice}`);
    expect(claim.input.values).toEqual({ text: TEXT });
    expect(claim.output.meaning?.kind).toBe("classes");
    expect(claim.payout?.prover).toBe(`${final.bond + 10n ** 16n}`);
  });

  it("behavior: final by time though nobody has recorded it", async () => {
    expect((await claimOf(active)).isFinalByTime).toBe(false);
    await local.passTime(4 * played.chain.constants.answerSeconds + 1);
    await caughtUp();
    const claim = await claimOf(active);
    expect([claim.state, claim.isFinalByTime]).toEqual(["ACTIVE", true]);
    expect(claim.deadlines.map(({ kind, isOver }) => [kind, isOver])).toEqual([
      ["window", true],
      ["final", true],
    ]);
  });

  it("error: an id of another form, and one that is unknown", async () => {
    const wrong = await get("/v1/claims/0x12");
    expect([wrong.status, await expectDocumented(document, "GET /v1/claims/{id}", wrong)]).toMatchObject([
      400,
      { error: { code: "ID_INVALID" } },
    ]);
    const unknown = await get(`/v1/claims/0x${"ab".repeat(32)}`);
    expect([unknown.status, await expectDocumented(document, "GET /v1/claims/{id}", unknown)]).toMatchObject([
      404,
      { error: { code: "CLAIM_UNKNOWN" } },
    ]);
  });
});

describe("GET /v1/claims/{id}/dispute", () => {
  it("default: each element's operands and arithmetic give what the contract found", async () => {
    for (const step of ELEMENTS) {
      const claim = fallen.get(`element:${step}`) as FiledClaim;
      const { conviction, openings, steps, isOver } = await disputeOf(claim);
      const fault = conviction?.fault;
      if (fault?.kind !== "ELEMENT") throw new Error(`Step ${step}: ${conviction?.undecoded ?? fault?.kind}`);
      const { type, data } = tensorOf(program, played.honest(CALLDATA).own.trace, step);
      const honest = (data[fault.element] as number) - (type === "s8" ? 128 : 0);
      expect(isOver).toBe(true);
      expect(fault.step.opcode).toBe(program.steps[step]?.opcode);
      expect(fault.expected, fault.step.opcode).toBe(honest);
      expect(fault.claimed).not.toBe(honest);
      if (fault.arithmetic.kind !== "operands") expect(fault.recomputed).toBe(honest);
      expect(fault.operands[0]?.values).toContain(fault.claimed);
      const word = openings.at(-1);
      expect(word?.opens).toBe("words");
      expect(word?.elements?.values).toContain(fault.claimed);
      expect(word?.content?.length).toBe(2 ** (word?.level ?? 0));
      expect(steps).toHaveLength(program.steps.length);
      expect(steps.every(({ root }) => root !== undefined)).toBe(true);
    }
    expect(ELEMENTS.length).toBeGreaterThan(3);
  });

  it("behavior: input tensors and outputs", async () => {
    const codec = (await disputeOf(fallen.get("codec:0") as FiledClaim)).conviction?.fault;
    expect(codec).toMatchObject({ kind: "CODEC", input: toHex(CALLDATA), step: { opcode: "codec" } });
    if (codec?.kind === "CODEC") expect(codec.expectedRoot).not.toBe(codec.claimedRoot);
    const claim = fallen.get("output") as FiledClaim;
    const output = (await disputeOf(claim)).conviction?.fault;
    if (output?.kind !== "OUTPUT") throw new Error("no output was convicted");
    expect(keccak256(output.output as `0x${string}`)).toBe(claim.outputHash);
    const honest = decodeOutput(program, played.honest(CALLDATA).output).data[output.element];
    expect(output.expected).toBe(`${honest}`);
    expect(output.claimed).not.toBe(output.expected);
  });

  it("behavior: a claim without a dispute has the model's steps and nothing opened", async () => {
    const dispute = await disputeOf(final);
    expect(dispute).toMatchObject({ tops: [], openings: [], isOver: true });
    expect(dispute.steps.map(({ dims }) => elementCount(dims))).toEqual(
      program.steps.map(({ dims }: Step) => elementCount(dims)),
    );
  });
});

describe("lists", () => {
  it("default: pages follow one another without a gap, newest first", async () => {
    const whole = (await ask("/v1/claims", "/v1/claims?limit=100")) as { items: Claim[] };
    expect(whole.items).toHaveLength(FAULTS.length + 2);
    const ids: string[] = [];
    for (let next: string | undefined = ""; next !== undefined; ) {
      const page = (await ask("/v1/claims", `/v1/claims?limit=3${next && `&before=${next}`}`)) as {
        items: Claim[];
        next?: string;
      };
      expect(page.items.length).toBeGreaterThan(0);
      ids.push(...page.items.map(({ claimId }) => claimId));
      next = page.next;
    }
    expect(ids).toEqual(whole.items.map(({ claimId }) => claimId));
    const blocks = whole.items.map(({ block }) => block);
    expect(blocks).toEqual([...blocks].sort((a, b) => b - a));
  });

  it("args: every filter", async () => {
    const count = async (path: string) => {
      const route = path.split("?")[0] as string;
      return ((await ask(route, path)) as { items: unknown[] }).items.length;
    };
    const { modelId } = played;
    expect(await count("/v1/claims?state=FALLEN")).toBe(FAULTS.length);
    expect(await count("/v1/claims?fall=CODEC")).toBe(1);
    expect(await count(`/v1/claims?model=${modelId}&state=FINAL&disputed=false`)).toBe(1);
    expect(await count("/v1/claims?disputed=true&limit=100")).toBe(FAULTS.length);
    expect(
      await count(`/v1/claims?challenger=${playerAddress("challenger").toLowerCase()}&fall=OUTPUT`),
    ).toBe(1);
    expect(await count(`/v1/claims?prover=${playerAddress("challenger")}`)).toBe(0);
    expect(await count(`/v1/claims?until=1`)).toBe(0);
    expect(await count(`/v1/requests?lane=BOND`)).toBe(1);
    expect(await count(`/v1/requests?requester=${playerAddress("requester")}&state=OPEN`)).toBe(
      FAULTS.length - 1,
    );
    expect(await count(`/v1/events?name=Fell&model=${modelId}`)).toBe(FAULTS.length);
    expect(await count(`/v1/events?account=${playerAddress("challenger")}&name=Collected`)).toBe(
      FAULTS.length,
    );
    expect(await count("/v1/accounts?role=challenger")).toBe(1);
    expect(await count("/v1/models")).toBe(1);
  });

  it("error: parameters that there are not, and values outside of their limits", async () => {
    for (const query of ["limit=0", "limit=101", "state=LOST", "colour=red", "before=-1", "model=0x12"]) {
      const response = await get(`/v1/claims?${query}`);
      expect([query, response.status]).toEqual([query, 400]);
      expect(await expectDocumented(document, "GET /v1/claims", response)).toMatchObject({
        error: { code: "QUERY_INVALID" },
      });
    }
  });
});

describe("requests, models, accounts, search", () => {
  it("default: a request with its terms, claims and events", async () => {
    const id = fallen.get(FAULTS[0] as string)?.requestId as string;
    const request = (await ask(
      "/v1/requests/{id}",
      `/v1/requests/${id.toUpperCase().replace("X", "x")}`,
    )) as Request;
    expect(request.claims.map(({ state }) => state)).toEqual(["FALLEN", "ACTIVE"]);
    expect(request).toMatchObject({ state: "BUSY", attempt: 1, delivery: "NONE" });
    expect(request.timeline[0]?.name).toBe("Requested");
  });

  it("default: a model with its folder, what it cost here, and its files", async () => {
    const { modelId } = played;
    const model = (await ask("/v1/models/{id}", `/v1/models/${modelId}`)) as Record<string, unknown>;
    expect(model).toMatchObject({
      name: MODEL.manifest.name,
      folder: "sentiment",
      isPublished: true,
      hasProgram: true,
      hasWeights: true,
      claims: FAULTS.length + 2,
      falls: FAULTS.length,
      provers: [{ account: playerAddress("prover"), claims: FAULTS.length + 2, falls: FAULTS.length }],
      challengers: [{ account: playerAddress("challenger"), tickets: FAULTS.length }],
    });
    const file = await get(`/v1/models/${modelId}/files/weights.bin`, { headers: { Range: "bytes=4-7" } });
    expect([file.status, file.headers.get("etag")]).toEqual([
      206,
      `"${MODEL.manifest.assay.files["weights.bin"]?.sha256}"`,
    ]);
    expect((await file.arrayBuffer()).byteLength).toBe(4);
    for (const name of ["nothing.bin", "..%2Fmanifest.json", "train.py"])
      expect((await get(`/v1/models/${modelId}/files/${name}`)).status, name).toBe(404);
  });

  it("default: an account's bonds, results and days", async () => {
    const account = (await ask(
      "/v1/accounts/{address}",
      `/v1/accounts/${playerAddress("challenger")}`,
    )) as Account;
    const won = [...fallen.values()].reduce((sum, { bond }) => sum + bond / 2n, 0n);
    expect(account.record).toMatchObject({
      tickets: FAULTS.length,
      ticketsWon: FAULTS.length,
      ticketsLive: 0,
    });
    expect(BigInt(account.result) + BigInt(account.money.transactionFees)).toBe(won);
    expect(account.days.at(-1)?.total).toBe(account.result);
    expect(BigInt(account.credit)).toBe(
      await played.chain.client.readContract({
        address: played.chain.game.assay,
        abi: iAssayAbi,
        functionName: "credits",
        args: [playerAddress("challenger")],
      }),
    );
  });

  it("default: search finds whatever has the id, and its beginning", async () => {
    const claimId = played.idOf(final);
    const hits = async (q: string) =>
      (
        (await ask("/v1/search", `/v1/search?q=${encodeURIComponent(q)}`)) as {
          hits: { kind: string; id: string }[];
        }
      ).hits;
    expect(await hits(claimId)).toMatchObject([{ kind: "claim", id: claimId }]);
    expect(await hits(claimId.slice(2, 20))).toMatchObject([{ kind: "claim", id: claimId }]);
    expect(await hits(`0x${"5e".repeat(32)}`)).toEqual([]);
    const requestId = requestIdOf(played.chain.game, await played.request(CALLDATA));
    await caughtUp();
    expect(await hits(requestId)).toMatchObject([{ kind: "request", id: requestId }]);
    expect(await hits("sentiment of")).toMatchObject([{ kind: "model", id: played.modelId }]);
    expect(await hits(playerAddress("prover").toLowerCase().slice(0, 12))).toMatchObject([
      { kind: "account", id: playerAddress("prover") },
    ]);
    const { timeline } = await claimOf(final);
    const transaction = timeline[0]?.transaction as string;
    expect(await hits(transaction)).toMatchObject([{ kind: "transaction", id: transaction }]);
    expect(await ask("/v1/transactions/{id}", `/v1/transactions/${transaction}`)).toMatchObject({
      events: [{ name: "Claimed" }],
    });
    expect(await hits("%_'\"")).toEqual([]);
  });

  it("default: the glossary has every term", async () => {
    const { terms } = (await ask("/v1/glossary", "/v1/glossary")) as ReturnType<typeof parseGlossary>;
    expect(terms.find(({ term }) => term === "window")?.meaning).toMatch(/seconds/);
    expect(terms.length).toBeGreaterThan(40);
  });
});
