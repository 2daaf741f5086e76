/** Batches and signed claims in the index and its JSON, with real contracts. */
import { join } from "node:path";
import { decodeFunctionResult, type Hex } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type {
  Account,
  AccountPage,
  Batch,
  BatchPage,
  Claim,
  ClaimPage,
  EventPage,
  Health,
  Leaf,
  LeafPage,
  Overview,
  SearchResult,
  SignedClaim,
  SignedClaimPage,
} from "../../explorer/api/types.ts";
import { connect } from "../../protocol/chain/connect.ts";
import type { Cursor } from "../../protocol/chain/follower.ts";
import { iPromiseReaderAbi } from "../../protocol/rules/generated/abis.ts";
import { contentOf, ExplorerIndex, NO_FACTS, openExplorerStore, rollbackTo } from "../support/explorer.ts";
import { caughtUp, startLocalExplorer } from "../support/local-explorer.ts";
import { documentOf, expectDocumented, type OpenApi } from "../support/openapi.ts";
import { playerAddress } from "../support/played-claims.ts";
import { type PlayedPromises, playPromises } from "../support/promises/played-promises.ts";
import { pieceOf, readPieces } from "../support/promises/promise-batches.ts";
import { createRng } from "../support/rng.ts";

const STRANGE = "<script>alert(1)</script> \u202eabc";
const PATIENCE_MS = 60_000;
const UNKNOWN = `0x${"ab".repeat(32)}`;

let played: PlayedPromises;
let explorer: Awaited<ReturnType<typeof startLocalExplorer>>;
let document: OpenApi;

const start = async (deployment: PlayedPromises["deployment"], data: string) =>
  startLocalExplorer({
    chain: await connect({ rpcUrl: played.local.rpcUrl, deployment }),
    models: [played.models],
    data: join(played.folder.path, data),
    pagesFolder: join(played.folder.path, "none"),
  });

beforeAll(async () => {
  played = await playPromises(STRANGE);
  explorer = await start(played.deployment, "explorer");
  document = await documentOf(explorer.url);
  await caughtUp(explorer.url, played.played.chain);
});
afterAll(async () => {
  await explorer?.stop();
  await played?.stop();
});

const ask = async <Answer>(route: string, path = route): Promise<Answer> =>
  (await expectDocumented(document, `GET ${route}`, await fetch(`${explorer.url}${path}`))) as Answer;
const batchOf = (id: Hex) => ask<Batch>("/v1/batches/{id}", `/v1/batches/${id}`);
const accountOf = (address: Hex) => ask<Account>("/v1/accounts/{address}", `/v1/accounts/${address}`);

describe("GET /v1/batches", () => {
  it("default: newest first, each with its state, and gas by leaf of its transaction", async () => {
    const { right, fallen, running } = played;
    const { items } = await ask<BatchPage>("/v1/batches");
    expect(
      items.map(({ batchId, state, count, opened, open }) => [batchId, state, count, opened, open]),
    ).toEqual([
      [running.id, "RUNNING", 4, 1, 1],
      [fallen.id, "FALLEN", 3, 1, 0],
      [right.id, "FINAL", 5, 0, 0],
    ]);
    const { transaction, gasPerLeaf } = await batchOf(right.id);
    const receipt = await played.local.client.getTransactionReceipt({ hash: transaction as Hex });
    expect(gasPerLeaf).toBe(Number(receipt.gasUsed) / 5);
  });

  it("args: every filter, and pages", async () => {
    const { right, fallen, running, prover, modelId } = played;
    const ids = async (query: string) =>
      (await ask<BatchPage>("/v1/batches", `/v1/batches?${query}`)).items.map(({ batchId }) => batchId);
    expect(await ids("state=RUNNING")).toEqual([running.id]);
    expect(await ids("state=FALLEN")).toEqual([fallen.id]);
    expect(await ids(`state=FINAL&prover=${prover.toLowerCase()}`)).toEqual([right.id]);
    expect(await ids(`model=${modelId}`)).toHaveLength(3);
    expect(await ids(`model=${UNKNOWN}`)).toEqual([]);
    expect(await ids(`prover=${playerAddress("challenger")}`)).toEqual([]);
    const first = await ask<BatchPage>("/v1/batches", "/v1/batches?limit=2");
    const second = await ask<BatchPage>("/v1/batches", `/v1/batches?limit=2&before=${first.next}`);
    expect([...first.items, ...second.items].map(({ batchId }) => batchId)).toEqual(await ids("limit=3"));
    expect(second.next).toBeUndefined();
  });
});

describe("GET /v1/batches/{id}", () => {
  it("default: a leaf that fell, with its claim, and every move", async () => {
    const { fallen, wrong } = played;
    const batch = await batchOf(fallen.id);
    expect(batch.root).toBe(fallen.batch.root);
    expect(batch.openedLeaves).toMatchObject([
      { index: 1, status: "FELL", opener: playerAddress("challenger"), claim: { fall: "OUTPUT" } },
    ]);
    expect(batch.timeline.map(({ name }) => name)).toEqual(["Posted", "LeafOpened", "Closed", "Released"]);
    const claimId = batch.openedLeaves[0]?.claim?.claimId;
    const claim = await ask<Claim>("/v1/claims/{id}", `/v1/claims/${claimId}`);
    expect(claim).toMatchObject({
      promise: { batch: fallen.id, leaf: 1 },
      operator: played.prover,
      bond: `${wrong.bond}`,
      hasDispute: true,
    });
    expect(claim.timeline.map(({ name }) => name)).toContain("LeafOpened");
  });

  it("behavior: final by time, as the contract says; nothing of one that is running is", async () => {
    for (const { id } of [played.right, played.fallen, played.running])
      expect((await batchOf(id)).state === "FINAL", id).toBe(await played.reader.isFinal(id));
  });

  it("error: an unknown one, an unknown leaf, and paths of another form", async () => {
    for (const [route, path, code, status] of [
      ["/v1/batches/{id}", `/v1/batches/${UNKNOWN}`, "BATCH_UNKNOWN", 404],
      ["/v1/batches/{id}/leaves", `/v1/batches/${UNKNOWN}/leaves`, "BATCH_UNKNOWN", 404],
      ["/v1/batches/{id}/leaves/{index}", `/v1/batches/${played.right.id}/leaves/5`, "LEAF_UNKNOWN", 404],
      ["/v1/batches/{id}/leaves/{index}", `/v1/batches/${played.right.id}/leaves/x`, "ID_INVALID", 400],
      ["/v1/signed-claims/{id}", `/v1/signed-claims/${UNKNOWN}`, "SIGNED_CLAIM_UNKNOWN", 404],
      ["/v1/batches", "/v1/batches?state=OPEN", "QUERY_INVALID", 400],
    ] as const) {
      const response = await fetch(`${explorer.url}${path}`);
      expect([path, response.status]).toEqual([path, status]);
      expect(await expectDocumented(document, `GET ${route}`, response)).toMatchObject({ error: { code } });
    }
  });
});

describe("GET /v1/claims", () => {
  it("default: a claim that was a promise names who promised, in lists as on its own", async () => {
    const { prover, reader, stood } = played;
    const whose = { prover: reader.at.promises, promisedBy: prover };
    const { items } = await ask<ClaimPage>("/v1/claims", "/v1/claims");
    expect(items).toHaveLength(3);
    for (const item of items) expect(item).toMatchObject(whose);
    const claimId = items[0]?.claimId;
    expect(await ask<Claim>("/v1/claims/{id}", `/v1/claims/${claimId}`)).toMatchObject(whose);
    const signed = await ask<SignedClaim>("/v1/signed-claims/{id}", `/v1/signed-claims/${stood}`);
    expect(signed.claim).toMatchObject(whose);
  });
});

describe("GET /v1/batches/{id}/leaves", () => {
  it("default: pages in the order of the data, each leaf as values and in words", async () => {
    const path = `/v1/batches/${played.right.id}/leaves`;
    const first = await ask<LeafPage>("/v1/batches/{id}/leaves", `${path}?limit=3`);
    const second = await ask<LeafPage>("/v1/batches/{id}/leaves", `${path}?limit=3&before=${first.next}`);
    expect([first.items.length, first.next, second.items.length, second.next]).toEqual([
      3,
      "3",
      2,
      undefined,
    ]);
    expect([...first.items, ...second.items].map(({ index }) => index)).toEqual([0, 1, 2, 3, 4]);
    const [leaf] = first.items;
    expect(leaf?.input.values).toEqual({ text: "Profit doubles at Acme" });
    expect(leaf?.output.meaning?.text).toMatch(/^bullish/);
    expect(second.items[1]?.input.values).toEqual({ text: STRANGE });
  });

  it("behavior: what a leaf's page gives is what requireFinalLeaf takes", async () => {
    const path = `/v1/batches/${played.right.id}/leaves/4`;
    const { proof, state } = await ask<Leaf>("/v1/batches/{id}/leaves/{index}", path);
    const { data = "0x" } = await played.local.client.call({
      to: proof.reader as Hex,
      data: proof.calldata as Hex,
    });
    const functionName = "requireFinalLeaf";
    expect(decodeFunctionResult({ abi: iPromiseReaderAbi, functionName, data })).toBe(proof.output);
    expect([state, proof.payload]).toEqual(["FINAL", played.right.payload(4)]);
  });
});

describe("GET /v1/signed-claims", () => {
  it("default: one that stood with its claim, and one that waits", async () => {
    const { stood, queued, prover } = played;
    const { items } = await ask<SignedClaimPage>("/v1/signed-claims");
    expect(items.map(({ digest, state, ahead }) => [digest, state, ahead])).toEqual([
      [queued, "QUEUED", 0],
      [stood, "STOOD", undefined],
    ]);
    const query = `state=QUEUED&prover=${prover}&model=${played.modelId}`;
    const waiting = await ask<SignedClaimPage>("/v1/signed-claims", `/v1/signed-claims?${query}`);
    expect(waiting.items.map(({ digest }) => digest)).toEqual([queued]);
  });

  it("default: its terms, its input and output, and its life with that of its claim", async () => {
    const of = (digest: Hex) => ask<SignedClaim>("/v1/signed-claims/{id}", `/v1/signed-claims/${digest}`);
    const stood = await of(played.stood);
    expect(stood).toMatchObject({
      requester: playerAddress("requester"),
      opener: playerAddress("requester"),
      input: { values: { text: "Profit doubles at Acme" } },
    });
    expect(stood.timeline.map(({ name, contract }) => [name, contract])).toEqual([
      ["Claimed", undefined],
      ["Opened", "promises"],
      ["Finalized", undefined],
      ["Closed", "promises"],
    ]);
    const queued = await of(played.queued);
    expect(queued).toMatchObject({ state: "QUEUED", input: { values: { text: STRANGE } }, passes: 0 });
    expect(queued.requester).toBeUndefined();
    expect(queued.timeline.map(({ name }) => name)).toEqual(["Queued"]);
  });
});

describe("the money of promises", () => {
  it("default: stake, deposits and credits are those of the contract, and the split is its own", async () => {
    const { reader, prover, local } = played;
    const { promises } = await ask<Overview>("/v1/overview");
    const word = await reader.account(prover);
    const stake = word.free + word.leaving + word.away + word.slots;
    expect(promises?.stake).toBe(`${stake}`);
    expect(promises?.burned).toBe(`${await reader.burned()}`);
    expect(promises?.credits).toBe(`${await reader.credit(playerAddress("challenger"))}`);
    // What is neither away in Assay nor to be asked for is nobody's.
    const sum = stake - word.away + BigInt(promises?.deposits ?? 0) + BigInt(promises?.credits ?? 0);
    const balance = await local.client.getBalance({ address: reader.at.promises });
    expect(sum + BigInt(promises?.burned ?? 0)).toBe(balance);
    const account = await accountOf(prover);
    expect(account.promises).toMatchObject({ stake: `${stake}`, batches: 3, batchesFallen: 1, leaves: 12 });
    // What the node is asked for is left out where it does not answer soon.
    await expect
      .poll(async () => (await accountOf(prover)).promises?.split, { timeout: PATIENCE_MS })
      .toMatchObject({ free: `${word.free}`, slots: `${word.slots}` });
    expect(account.promises).toMatchObject({ waiting: 1, signed: 2, signedFell: 0 });
    expect(account.roles).toContain("prover");
  });

  it("default: profit and loss of the prover, the opener and the challenger are what they have more", async () => {
    const { prover, reader, wrong } = played;
    const account = await accountOf(prover);
    const word = await reader.account(prover);
    const stake = word.free + word.leaving + word.away + word.slots;
    const result = BigInt(account.result) + BigInt(account.money.transactionFees);
    expect(result).toBe(stake - 10n ** 18n);
    // The lost bond is the prover's, not the contract's that stood for it.
    const contract = await accountOf(reader.at.promises);
    expect(contract.result).toBe("0");
    const stood = await ask<SignedClaim>("/v1/signed-claims/{id}", `/v1/signed-claims/${played.stood}`);
    const opener = await accountOf(playerAddress("requester"));
    expect(BigInt(opener.result) + BigInt(opener.money.transactionFees)).toBe(-BigInt(stood.deposit));
    const challenger = await accountOf(playerAddress("challenger"));
    expect(BigInt(challenger.result) + BigInt(challenger.money.transactionFees)).toBe(wrong.bond / 2n);
    const { items } = await ask<AccountPage>("/v1/accounts", "/v1/accounts?role=prover");
    expect(items.map(({ account: id }) => id)).toContain(prover);
  });

  it("default: volume counts leaves beside the lanes", async () => {
    const { promises, days, finalByLane } = await ask<Overview>("/v1/overview");
    expect(promises).toMatchObject({
      batches: { posted: 3, fallen: 1 },
      leaves: { posted: 12, final: 5 },
      signed: { opened: 2, fell: 0 },
    });
    expect(promises?.gasPerLeaf?.count).toBe(12);
    expect(days.reduce((sum, { leaves }) => sum + leaves, 0)).toBe(12);
    expect(finalByLane.BOND).toBe(1);
  });
});

describe("GET /v1/search", () => {
  it("default: finds a batch and a signed claim by the beginning of their ids", async () => {
    for (const [id, kind] of [
      [played.right.id, "batch"],
      [played.queued, "signed claim"],
    ] as const) {
      const { hits } = await ask<SearchResult>("/v1/search", `/v1/search?q=${id.slice(0, 12)}`);
      expect(hits.map((hit) => [hit.kind, hit.id])).toEqual([[kind, id]]);
    }
    const { items } = await ask<EventPage>("/v1/events", `/v1/events?batch=${played.right.id}`);
    expect(items.map(({ name }) => name)).toEqual(["Released", "Posted"]);
    const queued = await ask<EventPage>("/v1/events", `/v1/events?digest=${played.queued}`);
    expect(queued.items.map(({ name }) => name)).toEqual(["Queued"]);
  });
});

describe("ExplorerIndex", () => {
  it("behavior: however the events come, and whatever is taken back on the way, the tables are the same", async () => {
    const { blocks, facts } = await readPieces(played.played.chain);
    const database = (name: string) => openExplorerStore(join(played.folder.path, `${name}.sqlite`));
    const rowsIn = ({ batches, signed_claims }: Record<string, unknown[]>) => [batches, signed_claims];
    const plainDb = database("plain");
    const plain = new ExplorerIndex(plainDb);
    let before: Cursor = [];
    /** The rows of promises after so many blocks. */
    const rowsAfter = [rowsIn(await contentOf(plainDb))];
    for (const block of blocks) {
      const batch = pieceOf([block], before);
      await plain.take(batch, facts, block.promised);
      before = batch.cursor;
      rowsAfter.push(rowsIn(await contentOf(plainDb)));
    }
    const expected = await contentOf(plainDb);
    await plainDb.close();
    for (const table of ["batches", "signed_claims", "promise_events"])
      expect(expected[table]?.length, table).toBeGreaterThan(1);
    const random = createRng(11);
    let rollbacks = 0;
    for (let round = 0; round < 6; round++) {
      const db = database(`round-${round}`);
      let index = new ExplorerIndex(db);
      let cursor: Cursor = [];
      let at = 0;
      while (at < blocks.length) {
        const part = blocks.slice(at, at + random.int(1, 6));
        const batch = pieceOf(part, cursor);
        const promised = part.flatMap((block) => block.promised);
        await index.take(batch, facts, promised);
        expect(await index.take(batch, facts, promised), "the same batch again").toBeUndefined();
        cursor = batch.cursor;
        at += part.length;
        if (random.int(0, 2) === 0) {
          const back = rollbackTo(cursor, random.int(random.int(0, 9) === 0 ? 0 : 1, cursor.length));
          await index.take(back, NO_FACTS);
          cursor = back.cursor;
          at = blocks.filter(({ number }) => number <= back.ancestor).length;
          expect(rowsIn(await contentOf(db)), `after a re-org to ${at} blocks`).toEqual(rowsAfter[at]);
          rollbacks += 1;
        }
        // Another process on the same database.
        if (random.int(0, 4) === 0) index = new ExplorerIndex(db);
      }
      const content = await contentOf(db);
      for (const [table, rows] of Object.entries(expected)) expect(content[table], table).toEqual(rows);
      await new ExplorerIndex(db).take(rollbackTo(cursor, 0), NO_FACTS);
      expect(rowsIn(await contentOf(db)), "nothing is known to be there still").toEqual(rowsAfter[0]);
      await db.close();
    }
    expect(rollbacks).toBeGreaterThan(6);
  });
});

describe("a deployment without promises", () => {
  it("behavior: has no batch, no signed claim and no word of them, and no error", async () => {
    const { promises: _, promiseReader: __, ...contracts } = played.deployment.contracts;
    const plain = await start({ ...played.deployment, contracts }, "plain");
    try {
      await caughtUp(plain.url, played.played.chain);
      const get = async (path: string) => (await fetch(`${plain.url}${path}`)).json();
      expect(await get("/v1/batches")).toEqual({ items: [] });
      expect(await get("/v1/signed-claims")).toEqual({ items: [] });
      expect((await get("/v1/overview")) as Overview).not.toHaveProperty("promises");
      expect((await get("/healthz")) as Health).not.toHaveProperty("promises");
      expect((await get(`/v1/accounts/${played.prover}`)) as Account).not.toHaveProperty("promises");
    } finally {
      await plain.stop();
    }
  });
});
