import { keccak256 } from "viem";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { historyOf } from "../../protocol/chain/history.ts";
import { iAssayAbi } from "../../protocol/rules/generated/abis.ts";
import type { RequestId } from "../../protocol/rules/types.ts";
import type { ProverState } from "../../prover/decide.ts";
import { createOrders } from "../../prover/http/order.ts";
import type { NodeView, Payment } from "../../prover/http/parts.ts";
import type { ServedModel } from "../../prover/models.ts";
import { accountAt, type LocalChain, startLocalChain } from "../support/anvil.ts";
import { openLocalSystem, tinyInput } from "../support/deploy.ts";

let local: LocalChain;
let system: Awaited<ReturnType<typeof openLocalSystem>>;
let nowMs = 0;
let state: ProverState | undefined;
let order: Payment["order"];

beforeAll(async () => {
  local = await startLocalChain();
  system = await openLocalSystem(local);
});
afterAll(async () => {
  await system?.close();
  await local?.stop();
});
beforeEach(() => {
  nowMs = 0;
  state = {
    now: 0,
    own: accountAt(1).address,
    constants: system.chain.constants,
    baseFee: 10n ** 9n,
    gasPrice: 2n * 10n ** 9n,
    balance: 10n ** 20n,
    live: [],
    fallen: new Set(),
  };
  const node = {
    get state() {
      return state;
    },
    termsOf: ({ depth, outputLength }: ServedModel) => ({ lanes: 4, depth, outputLength }),
  } as NodeView;
  const policy = { marginPercent: 20, maxBonds: 10n ** 20n, endingBudget: 10n ** 16n, maxWindow: 3_600 };
  order = createOrders(system.chain, system.sender, { node, policy, nowMs: () => nowMs });
});

/** The tiny model as the node serves it. */
const model = () => ({ id: system.modelId, depth: 1, outputLength: 96 }) as ServedModel;
const ask = (...bytes: number[]) => order(model(), fromHex(tinyInput(bytes)));

/** Requests about these bytes, on the chain. */
async function filed(...bytes: number[]): Promise<RequestId[]> {
  const logs = await local.client.getContractEvents({
    address: system.chain.game.assay,
    abi: iAssayAbi,
    eventName: "Requested",
    fromBlock: 0n,
    strict: true,
  });
  const ids = logs.map(({ args }) => args.requestId as RequestId);
  const histories = await Promise.all(ids.map((id) => historyOf(system.chain, id)));
  return ids.filter((_, i) => {
    const requested = histories[i]?.[0];
    return (
      requested?.name === "Requested" && requested.args.request.inputHash === keccak256(tinyInput(bytes))
    );
  });
}

describe("createOrders", () => {
  it("default: one request for each input, however many ask, that nobody else may claim", async () => {
    await Promise.all([ask(1, 2, 3, 4), ask(1, 2, 3, 4), ask(5, 6, 7, 8)]);
    await ask(1, 2, 3, 4);
    const [id, ...more] = await filed(1, 2, 3, 4);
    expect([more.length, (await filed(5, 6, 7, 8)).length]).toEqual([0, 1]);
    const [requested] = await historyOf(system.chain, id as RequestId);
    if (requested?.name !== "Requested") throw new Error("not requested");
    const { requester, exclusiveProver, exclusiveUntil, expiry, fee } = requested.args.request;
    expect([requester, exclusiveProver]).toEqual([accountAt(1).address, accountAt(1).address]);
    expect(exclusiveUntil).toBe(expiry);
    expect(fee).toBeGreaterThan(0n);
  });

  it("behavior: once a request has expired, the input may be asked for again", async () => {
    await ask(9, 9, 9, 9);
    nowMs = 600_000;
    await ask(9, 9, 9, 9);
    expect(await filed(9, 9, 9, 9)).toHaveLength(2);
  });

  it("error: no more than 64 inputs at once", async () => {
    for (let byte = 0; byte < 64; byte++) await ask(7, 7, 7, byte);
    await expect(ask(7, 7, 8, 0)).rejects.toThrow(expect.objectContaining({ code: "TOO_BUSY" }));
    expect(await filed(7, 7, 8, 0)).toEqual([]);
  });

  it("error: what failed holds no place", async () => {
    const before = state;
    state = undefined;
    await expect(ask(3, 3, 3, 3)).rejects.toThrow(expect.objectContaining({ code: "CHAIN_NOT_READ_YET" }));
    state = before;
    await expect(order(model(), Uint8Array.of(1, 2))).rejects.toThrow(
      expect.objectContaining({ code: "ORDER_REFUSED" }),
    );
    await ask(3, 3, 3, 3);
    expect(await filed(3, 3, 3, 3)).toHaveLength(1);
  });
});
