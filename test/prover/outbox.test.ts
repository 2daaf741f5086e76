import { decodeFunctionData, type Hex, keccak256 } from "viem";
import { describe, expect, test } from "vitest";
import { type Action, Actions } from "../../protocol/chain/actions.ts";
import type { RequestEntry } from "../../protocol/chain/book.ts";
import { iAssayAbi } from "../../protocol/generated/abis.ts";
import { LANE, type ModelId, type RequestId, ZERO_ADDRESS, ZERO_HASH } from "../../protocol/terms.ts";
import { Outbox, type Settling } from "../../prover/outbox.ts";
import { again, DONE, type Outcome } from "../../prover/workers.ts";

const OWN = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const INPUT = "0x12";
const PROOF = { means: "groth16", lane: LANE.PROOF, gas: 1n } as const;
const EXECUTION = { means: "execution", lane: LANE.EXECUTION, gas: 1n } as const;

function settling(serial: number, model = 1, truth: Settling["truth"] = PROOF): Settling {
  const word = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;
  const request: RequestEntry["request"] = {
    requester: OWN,
    modelId: word(model) as ModelId,
    inputHash: keccak256(INPUT),
    lanes: 7,
    fee: 1n,
    deliveryFee: 0n,
    minBond: 0n,
    window: 20,
    expiry: 2_000,
    exclusiveProver: ZERO_ADDRESS,
    exclusiveUntil: 0,
    callback: ZERO_ADDRESS,
    callbackGas: 0,
    salt: BigInt(serial),
  };
  const block = { number: 1n, hash: ZERO_HASH };
  const entry = { request, input: INPUT, block, status: "open", attempt: 0, delivered: false } as const;
  return {
    request: { id: word(serial) as RequestId, ...entry },
    claim: undefined,
    truth,
    output: "0x34",
    evidence: "0x56",
  };
}

/** An outbox over a sender that gives these outcomes by function. */
function open(outcomes: Readonly<Record<string, Outcome>> = {}) {
  const sent: string[] = [];
  const nameOf = ({ data }: Action): string => {
    const { functionName, args } = decodeFunctionData({ abi: iAssayAbi, data });
    if (functionName !== "settleBatch") return functionName;
    expect(args[1]).toBe(OWN);
    return `${functionName} ${args[2].length}`;
  };
  const outbox = new Outbox({
    actions: new Actions({ chainId: 1, assay: OWN }),
    submitter: OWN,
    carryOut: async (action) => {
      const name = nameOf(action);
      sent.push(name);
      return outcomes[name] ?? DONE;
    },
  });
  return { outbox, sent };
}

describe("Outbox", () => {
  test("default: proofs of one model that wait together go in one transaction", async () => {
    const { outbox, sent } = open();
    const waiting = [1, 2, 3].map((serial) => outbox.send(settling(serial)));
    expect(sent).toEqual([]);
    outbox.flush();
    expect(await Promise.all(waiting)).toEqual([DONE, DONE, DONE]);
    expect(sent).toEqual(["settleBatch 3"]);
  });

  test("behavior: each model by itself, a lone proof without a batch, an execution at once", async () => {
    const { outbox, sent } = open();
    expect(await outbox.send(settling(1, 1, EXECUTION))).toEqual(DONE);
    expect(sent).toEqual(["settle"]);
    const waiting = [settling(2, 1), settling(3, 2), settling(4, 1)].map((one) => outbox.send(one));
    outbox.flush();
    await Promise.all(waiting);
    expect(sent.slice(1).sort()).toEqual(["settle", "settleBatch 2"]);
  });

  test("behavior: when a batch is refused each proof stands for itself", async () => {
    const refused = again("the contract refuses: RequestSettled");
    const { outbox, sent } = open({ "settleBatch 2": refused });
    const waiting = [1, 2].map((serial) => outbox.send(settling(serial)));
    outbox.flush();
    expect(await Promise.all(waiting)).toEqual([DONE, DONE]);
    expect(sent).toEqual(["settleBatch 2", "settle", "settle"]);
  });

  test("behavior: where no block comes a proof waits no longer than its timer", async () => {
    const { outbox, sent } = open();
    expect(await outbox.send(settling(1))).toEqual(DONE);
    expect(sent).toEqual(["settle"]);
  });
});
