import { join } from "node:path";
import { type Address, createWalletClient, type Hex, http, keccak256 } from "viem";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { SILENT } from "../../base/log.ts";
import { demandPath, encodePosition } from "../../inference/commit/positions.ts";
import { traceShapes } from "../../inference/commit/reveal.ts";
import { execute } from "../../inference/executor/execute.ts";
import { encodeProgram } from "../../inference/program/encode.ts";
import { CanonicalPool } from "../../inference/runtime/canonical-pool.ts";
import packageFile from "../../package.json" with { type: "json" };
import { Actions } from "../../protocol/chain/actions.ts";
import { connect } from "../../protocol/chain/connect.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { registerModel } from "../../protocol/chain/register.ts";
import { requireAccount } from "../../protocol/chain/sender.ts";
import { iAssayAbi } from "../../protocol/rules/generated/abis.ts";
import { requestIdOf } from "../../protocol/rules/ids.ts";
import { bondsOf } from "../../protocol/rules/money.ts";
import {
  type Claim,
  type ClaimId,
  LANE,
  type ModelId,
  type Request,
  ZERO_ADDRESS,
} from "../../protocol/rules/types.ts";
import { openDataFolder } from "../../protocol/service/data-folder.ts";
import { claimGas, GAS } from "../../prover/costs.ts";
import { type ProverOptions, runProver } from "../../prover/main.ts";
import { type ServedProgram, serveModels } from "../../prover/models.ts";
import { honestRuns } from "../../prover/runs.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { deployLocal, LOCAL_CONSTANTS, QUICK, temporaryFolder } from "../support/deploy.ts";
import { forecastInput, loadForecast } from "../support/forecast.ts";
import { OPEN_HTTP } from "../support/open-http.ts";
import { documentOf, expectDocumented } from "../support/openapi.ts";

const forecast = loadForecast();
const model = serveModels([forecast]).get(forecast.modelId as ModelId) as ServedProgram;
const canonical = new CanonicalPool(new Map([[forecast.modelId, forecast]]));
const raise = (): never => {
  throw new Error("impossible");
};
/** Long enough for a restart on any machine; the windows end when the tests let them. */
const ANSWER_SECONDS = 120;
const WINDOW = 4 * ANSWER_SECONDS;
/** How long a wait may take on any machine. */
const SOON = { timeout: 240_000, interval: 100 };
const outputOf = (input: Hex): Uint8Array => execute(model.prepared, fromHex(input));

describe("prover", () => {
  let local: LocalChain;
  let user: Awaited<ReturnType<typeof open>>;
  let serial = 0;
  const folder = temporaryFolder();

  /** An account of its own, with a sender. */
  async function open(index: number) {
    const chain = await chainOf(index);
    const data = openDataFolder(join(folder.path, `account-${index}`), chain, [], QUICK);
    return { chain, ...data, actions: new Actions(chain.game) };
  }
  let deployment: Awaited<ReturnType<typeof deployLocal>>;
  const chainOf = async (index: number) =>
    requireAccount(await connect({ rpcUrl: local.rpcUrl, deployment, account: accountAt(index) }));

  beforeAll(async () => {
    local = await startLocalChain();
    deployment = await deployLocal(local, { ...LOCAL_CONSTANTS, answerSeconds: ANSWER_SECONDS });
    user = await open(1);
    const { commitment, selector, laneBits: lanes, manifest } = forecast;
    const identity = { ...commitment, selector, lanes, vkHash: fromHex(manifest.assay.vkHash) };
    await registerModel(user.chain, user.sender, encodeProgram(forecast.model.program), identity);
    await local.control.setIntervalMining({ interval: 1 });
  });
  afterAll(async () => {
    canonical.close();
    await user?.close();
    await local?.stop();
    folder.remove();
  });

  /** A prover that runs until `stop`. */
  async function start(index: number, changes: Partial<ProverOptions> = {}) {
    const stopping = new AbortController();
    let announce = (_url: string) => {};
    const url = new Promise<string>((resolve) => {
      announce = resolve;
    });
    const log = {
      ...SILENT,
      info: (fields: object, message: string) => {
        if (message === "prover is up") announce((fields as { url: string }).url);
      },
    };
    const engine: ProverOptions["engine"] = {
      run: async (_id, calldata) => ({ output: execute(model.prepared, calldata) }),
    };
    const running = runProver(
      {
        chain: await chainOf(index),
        models: [forecast],
        engine,
        canonical,
        runs: honestRuns({ engine, canonical, log: SILENT }),
        data: join(folder.path, `prover-${index}`),
        policy: {
          marginPercent: 20,
          maxBonds: 10n ** 20n,
          maxBond: 10n ** 20n,
          endingBudget: 10n ** 16n,
          maxWindow: 3_600,
        },
        claims: true,
        width: 4,
        withdrawAbove: 1n,
        pollIntervalMs: 50,
        confirmations: 0,
        maxFee: 10n ** 12n,
        http: OPEN_HTTP,
        log,
        ...changes,
      },
      stopping.signal,
    );
    const stop = async () => {
      stopping.abort();
      await running;
    };
    return { url: await Promise.race([url, running.then(() => raise())]), stop };
  }

  /** @param index account that alone may claim */
  async function ask(index: number, changes: Partial<Request> = {}) {
    const now = await local.now();
    serial += 1;
    const input = forecastInput(forecast, serial);
    const request: Request = {
      requester: user.chain.account.address,
      modelId: forecast.modelId as ModelId,
      inputHash: keccak256(input),
      lanes: LANE.BOND,
      fee: 10n ** 15n,
      deliveryFee: 0n,
      minBond: 0n,
      window: WINDOW,
      expiry: now + 3_600,
      exclusiveProver: accountAt(index).address,
      exclusiveUntil: now + 300,
      callback: ZERO_ADDRESS,
      callbackGas: 0,
      salt: 0n,
      ...changes,
    };
    expect((await user.sender.send(user.actions.request(request, input))).status).toBe("sent");
    return { request, input, id: requestIdOf(user.chain.game, request) };
  }

  /** The first event of this name about a request or claim. */
  async function event<Name extends string>(id: Hex, name: Name) {
    type Found = Extract<Awaited<ReturnType<typeof historyOf>>[number], { name: Name }>;
    const search = async () => (await historyOf(user.chain, id as ClaimId)).find((one) => one.name === name);
    const found = await vi.waitUntil(search, SOON);
    return found as Found;
  }
  const gasOf = async ({ transactionHash: hash }: { transactionHash: Hex }) =>
    (await local.client.getTransactionReceipt({ hash })).gasUsed;
  const claimOf = async (id: Hex): Promise<{ claim: Claim; claimId: Hex }> =>
    (await event(id, "Claimed")).args;
  const getJson = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>;

  test("default: claims at the quote, ends, delivers, is paid, and says so over HTTP", async () => {
    const prover = await start(2);
    await vi.waitUntil(async () => (await getJson(`${prover.url}/healthz`)).status === "ok", SOON);
    const offer = await getJson(`${prover.url}/v1/quote?model=forecast-vix&callbackGas=50000`);
    const [fee, deliveryFee] = [
      BigInt(String(offer.leastFee)) * 2n,
      BigInt(String(offer.leastDeliveryFee)) * 2n,
    ];
    const poor = await ask(2, { fee: 1n });
    const decision = () => getJson(`${prover.url}/v1/requests/${poor.id}`).then((seen) => seen.decision);
    expect(await vi.waitUntil(decision, SOON)).toMatchObject({ kind: "skip", code: "FEE_TOO_LOW" });
    const callback = await createAlwaysContent();
    const { id, input } = await ask(2, { fee, deliveryFee, callback, callbackGas: 50_000 });
    const asking = fetch(`${prover.url}/tools/forecast-vix?finality=final`, {
      method: "POST",
      body: Buffer.from(fromHex(input)),
    });
    const { claimId, claim } = await claimOf(id);
    await local.passTime(WINDOW);
    const asked = await asking;
    expect([asked.status, asked.headers.get("assay-status")]).toEqual([200, "final"]);
    expect(asked.headers.get("assay-claim")).toBe(claimId);
    expect(toHex(new Uint8Array(await asked.arrayBuffer()))).toBe(toHex(outputOf(input)));
    const { depth } = model;
    const { gasPrice } = claim;
    expect(claim.bond).toBe(bondsOf(deployment.constants, { gasPrice, depth, minBond: 0n, attempt: 0 }).bond);
    const delivered = await event(id, "Delivered");
    expect(delivered.args).toMatchObject({ success: true });
    // What fees are computed from covers what was spent.
    const [filed, ended] = [
      await gasOf(await event(claimId, "Claimed")),
      await gasOf(await event(id, "Finalized")),
    ];
    expect(filed + ended).toBeLessThanOrEqual(claimGas(model));
    expect(await gasOf(delivered)).toBeLessThanOrEqual(GAS.deliver);
    const seen = await getJson(`${prover.url}/v1/claims/${claimId}`);
    expect(seen).toMatchObject({ state: "FINAL", prover: accountAt(2).address });
    const timeline = seen.timeline as { event: string }[];
    expect(timeline.map((entry) => entry.event)).toEqual(["Claimed", "Finalized"]);
    const logs = () =>
      local.client.getContractEvents({
        address: deployment.contracts.assay,
        abi: iAssayAbi,
        eventName: "Withdrawn",
        fromBlock: 0n,
      });
    // Other provers are paid on the same chain: wait for this one's own money.
    const paid = async () => (await logs()).some((log) => log.args.to === accountAt(2).address);
    await vi.waitUntil(paid, SOON);
    const document = await documentOf(prover.url);
    expect(document).toMatchObject({ info: { version: packageFile.version } });
    expect(await getJson(`${prover.url}/healthz`)).toMatchObject({ version: packageFile.version });
    for (const [route, path] of [
      ["GET /v1/claims/{id}", `/v1/claims/${claimId}`],
      ["GET /v1/claims/{id}", `/v1/claims/0x${"00".repeat(31)}01`],
      ["GET /v1/requests/{id}", `/v1/requests/${id}`],
      ["GET /v1/requests/{id}", `/v1/requests/${poor.id}`],
      ["GET /v1/quote", "/v1/quote?model=forecast-vix"],
      ["GET /healthz", "/healthz"],
    ] as const)
      await expectDocumented(document, route, await fetch(`${prover.url}${path}`));
    const life = async () => (await fetch(`${prover.url}/v1/claims/${claimId}/events`)).text();
    // Until the node has seen that it is booked, it says `final`.
    await expect
      .poll(async () => (await life()).match(/^event: .*$/gm), SOON)
      .toEqual(["event: Claimed", "event: Finalized"]);
    await prover.stop();
  });

  test("behavior: answers a challenger who is wrong, over a restart, and keeps the ticket's half", async () => {
    let prover = await start(3);
    const { id } = await ask(3);
    const { claim, claimId } = await claimOf(id);
    const rival = await open(4);
    expect((await rival.sender.send(rival.actions.challenge(claim))).status).toBe("sent");
    const { args } = await event(claimId, "TraceCommitted");
    await prover.stop();
    const [position] = demandPath(traceShapes(model.prepared.program), 1, 0);
    const place = encodePosition(position ?? raise());
    expect((await rival.sender.send(rival.actions.demand(claim, args.traceRoot, place))).status).toBe("sent");
    prover = await start(3);
    expect((await event(claimId, "Revealed")).args.position).toBe(place);
    await local.passTime(WINDOW + ANSWER_SECONDS);
    await event(id, "Finalized");
    expect((await historyOf(user.chain, claimId as ClaimId)).some(({ name }) => name === "Fell")).toBe(false);
    await prover.stop();
    await rival.close();
  });

  test("behavior: an operator with a key of its own answers for a prover that is down", async () => {
    const operator = accountAt(6).address;
    const prover = await start(5, { operator });
    const { id } = await ask(5);
    const { claim, claimId } = await claimOf(id);
    await prover.stop();
    expect(claim.operator).toBe(operator);
    const helper = await start(6, { claims: false });
    const rival = await open(7);
    expect((await rival.sender.send(rival.actions.challenge(claim))).status).toBe("sent");
    await event(claimId, "TraceCommitted");
    await local.passTime(WINDOW + ANSWER_SECONDS);
    await event(id, "Finalized");
    await helper.stop();
    await rival.close();
  });

  /** Deploys a contract that takes every call: its code is STOP. */
  async function createAlwaysContent(): Promise<Address> {
    const wallet = createWalletClient({ account: accountAt(8), transport: http(local.rpcUrl) });
    const hash = await wallet.sendTransaction({ chain: null, data: "0x6001600c60003960016000f300" });
    const receipt = await local.client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
    return receipt.contractAddress ?? raise();
  }
});
