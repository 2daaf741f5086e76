import { decodeFunctionData, type Hex } from "viem";
import { describe, expect, test } from "vitest";
import { type Action, Actions } from "../../protocol/chain/actions.ts";
import { iAssayAbi } from "../../protocol/rules/generated/abis.ts";
import { LANE, type ModelId, type RequestId, ZERO_HASH } from "../../protocol/rules/types.ts";
import { type Evidence, Outbox, type Target } from "../../prover/outbox.ts";
import { again, DONE, type Outcome } from "../../prover/workers.ts";
import { accountAt } from "../support/anvil.ts";
import { tinyRequest } from "../support/deploy.ts";

const OWN = accountAt(1).address;
const INPUT = "0x12";
const PROOF = { method: "groth16", lane: LANE.PROOF, gas: 1n } as const;
const EXECUTION = { method: "execution", lane: LANE.EXECUTION, gas: 1n } as const;

function target(serial: number, model = 1, truth: Target["truth"] = PROOF): Target {
  const word = (n: number): Hex => `0x${n.toString(16).padStart(64, "0")}`;
  const changes = { lanes: 7, salt: BigInt(serial) };
  const request = tinyRequest(accountAt(1), word(model) as ModelId, INPUT, 0, changes);
  const block = { number: 1n, hash: ZERO_HASH };
  const fresh = { status: "open", attempt: 0, delivered: false, changedAt: block.number } as const;
  const entry = { request, input: INPUT, block, ...fresh } as const;
  return {
    request: { id: word(serial) as RequestId, ...entry },
    claim: undefined,
    truth,
  };
}

const EVIDENCE: Evidence = { output: "0x34", evidence: "0x56" };

/** Evidence that is ready when the test says so. */
function later() {
  let ready: () => void = () => {};
  let fail: () => void = () => {};
  const promise = new Promise<Evidence>((resolve, reject) => {
    ready = () => resolve(EVIDENCE);
    fail = () => reject(new Error("no proof"));
  });
  return { make: () => promise, ready, fail };
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
  test("default: proofs of one model that are made at once go in one transaction", async () => {
    const { outbox, sent } = open();
    const proofs = [1, 2, 3].map(later);
    const settled = proofs.map(({ make }, serial) => outbox.settle(target(serial), make));
    for (const { ready } of proofs.slice(1)) ready();
    await Promise.resolve();
    expect(sent).toEqual([]);
    proofs[0]?.ready();
    expect(await Promise.all(settled)).toEqual([DONE, DONE, DONE]);
    expect(sent).toEqual(["settleBatch 3"]);
  });

  test("behavior: at a block what is ready goes, and what is not goes by itself later", async () => {
    const { outbox, sent } = open();
    const proofs = [1, 2, 3].map(later);
    const settled = proofs.map(({ make }, serial) => outbox.settle(target(serial), make));
    for (const { ready } of proofs.slice(1)) ready();
    await Promise.resolve();
    await Promise.resolve();
    outbox.flush();
    expect(await Promise.all(settled.slice(1))).toEqual([DONE, DONE]);
    proofs[0]?.ready();
    expect(await settled[0]).toEqual(DONE);
    expect(sent).toEqual(["settleBatch 2", "settle"]);
  });

  test("behavior: each model by itself, a lone proof without a batch and at once, an execution too", async () => {
    const { outbox, sent } = open();
    const make = async () => EVIDENCE;
    expect(await outbox.settle(target(1, 1, EXECUTION), make)).toEqual(DONE);
    expect(await outbox.settle(target(1, 1), make)).toEqual(DONE);
    expect(sent).toEqual(["settle", "settle"]);
    await Promise.all([target(2, 1), target(3, 2), target(4, 1)].map((one) => outbox.settle(one, make)));
    expect(sent.slice(2).sort()).toEqual(["settle", "settleBatch 2"]);
  });

  test("behavior: when a batch is refused each proof stands for itself", async () => {
    const refused = again("the contract refuses: RequestSettled");
    const { outbox, sent } = open({ "settleBatch 2": refused });
    const settled = [1, 2].map((serial) => outbox.settle(target(serial), async () => EVIDENCE));
    expect(await Promise.all(settled)).toEqual([DONE, DONE]);
    expect(sent).toEqual(["settleBatch 2", "settle", "settle"]);
  });

  test("error: a proof that cannot be made holds up none that can", async () => {
    const { outbox, sent } = open();
    const [good, bad] = [later(), later()];
    const settled = outbox.settle(target(1), good.make);
    const failed = outbox.settle(target(2), bad.make);
    good.ready();
    bad.fail();
    await expect(failed).rejects.toThrow("no proof");
    expect(await settled).toEqual(DONE);
    expect(sent).toEqual(["settle"]);
  });
});
