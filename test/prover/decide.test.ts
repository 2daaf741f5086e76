import { describe, expect, test } from "vitest";
import type { ClaimEntry, RequestEntry } from "../../protocol/chain/claim-index.ts";
import { NO_DATA_FEE } from "../../protocol/chain/data-fee.ts";
import { claimGasPrice } from "../../protocol/chain/move-costs.ts";
import { bondsOf, defenceGas, MAX_AMOUNT } from "../../protocol/rules/money.ts";
import {
  type Claim,
  type ClaimId,
  LANE,
  type ModelId,
  type Request,
  ZERO_ADDRESS,
  ZERO_HASH,
} from "../../protocol/rules/types.ts";
import { type ClaimWord, EMPTY_CLAIM_WORD } from "../../protocol/rules/words.ts";
import { claimGas, leastDeliveryFee, leastFee } from "../../prover/costs.ts";
import {
  decideClaim,
  decideRequests,
  deliveryRefusal,
  disputeTruth,
  type Policy,
  type ProverState,
  truthFor,
} from "../../prover/decide.ts";
import { quote } from "../../prover/quote.ts";
import {
  codeOf,
  decideOne,
  ETHER,
  least,
  MODEL,
  models,
  OTHER,
  OWN,
  policy,
  requested,
  state,
  terms,
} from "../support/decisions.ts";

const gasPrice = claimGasPrice(state.constants, state.baseFee);
const { bond } = bondsOf(state.constants, { gasPrice, depth: 2, minBond: 0n, attempt: 0 });

describe("decideRequests", () => {
  test("default: claims with the contract's bond", () => {
    expect(decideOne(requested())).toEqual({ kind: "claim", gasPrice, bond });
  });

  test("behavior: an attempt doubles the bond, a minimum raises it", () => {
    expect(decideOne(requested({}, { attempt: 1 }))).toMatchObject({ bond: 2n * bond });
    expect(decideOne(requested({ minBond: 3n * bond }))).toMatchObject({ bond: 3n * bond });
  });

  test.each<[string, RequestEntry, Partial<ProverState>]>([
    ["MODEL_NOT_SERVED", requested({ modelId: ZERO_HASH as ModelId }), {}],
    ["NO_LANE", requested({ lanes: LANE.EXECUTION }), {}],
    ["EXPIRED", requested({ expiry: 1_000 }), {}],
    ["EXCLUSIVE", requested({ exclusiveProver: OTHER, exclusiveUntil: 1_000 }), {}],
    ["WINDOW_TOO_LONG", requested({ window: 3_601 }), {}],
    ["FEE_TOO_LOW", requested({ fee: least - 1n }), {}],
    ["BALANCE_TOO_LOW", requested(), { balance: bond }],
    ["BOND_TOO_HIGH", requested({ minBond: 2n ** 90n }, { attempt: 32 }), {}],
  ])("behavior: skips with %s", (code, entry, changes) => {
    expect(codeOf(entry, changes)).toBe(code);
  });

  test("behavior: each limit holds to the unit", () => {
    expect(codeOf(requested({ expiry: 1_001 }))).toBe("claim");
    expect(codeOf(requested({ exclusiveProver: OTHER, exclusiveUntil: 999 }))).toBe("claim");
    expect(codeOf(requested({ exclusiveProver: OWN, exclusiveUntil: 1_000 }))).toBe("claim");
    expect(codeOf(requested({ window: 3_600 }))).toBe("claim");
    const needed = bond + defenceGas(state.constants, 2) * gasPrice;
    expect(codeOf(requested(), { balance: needed })).toBe("claim");
    expect(codeOf(requested(), { balance: needed - 1n })).toBe("BALANCE_TOO_LOW");
    expect(codeOf(requested(), {}, { ...policy, maxBonds: bond })).toBe("claim");
    expect(codeOf(requested(), {}, { ...policy, maxBonds: bond - 1n })).toBe("BONDS_AT_LIMIT");
  });

  test("behavior: never claims again where this prover's claim fell", () => {
    const entry = requested({}, { attempt: 1 });
    expect(codeOf(entry, { fallen: new Set([entry.id]) })).toBe("OWN_CLAIM_FELL");
  });

  test("behavior: the oldest first; bonds of live and newly chosen claims count against the limit", () => {
    const [older, newer] = [requested(), requested()];
    const limit = { ...policy, maxBonds: 2n * bond };
    const live = [{ bond, gasPrice, depth: 2 }];
    const decisions = decideRequests([newer, older], models, { ...state, live }, limit);
    expect(decisions.get(older.id)?.kind).toBe("claim");
    expect(decisions.get(newer.id)).toMatchObject({ code: "BONDS_AT_LIMIT" });
  });

  test("behavior: a claim takes no bond above the limit of one; a truth needs none", () => {
    expect(codeOf(requested(), {}, { ...policy, maxBond: bond })).toBe("claim");
    expect(codeOf(requested(), {}, { ...policy, maxBond: bond - 1n })).toBe("BOND_ABOVE_LIMIT");
    // A fall doubles it.
    expect(codeOf(requested({}, { attempt: 1 }), {}, { ...policy, maxBond: bond })).toBe("BOND_ABOVE_LIMIT");
    const spike = { baseFee: 10n * state.baseFee };
    expect(codeOf(requested(), spike, { ...policy, maxBonds: 100n * ETHER, maxBond: bond })).toBe(
      "BOND_ABOVE_LIMIT",
    );
    const decision = decideRequests([requested()], models, state, { ...policy, maxBond: 10n ** 15n });
    expect([...decision.values()]).toEqual([
      expect.objectContaining({
        reason: expect.stringMatching(
          /^its bond would be 0\.\d+ ether at .*, and --max-bond is 0\.001 ether$/,
        ),
      }),
    ]);
  });

  test("behavior: keeps the gas of defending live claims", () => {
    const live = [{ bond, gasPrice, depth: 2 }];
    const needed = bond + 2n * defenceGas(state.constants, 2) * gasPrice;
    expect(codeOf(requested(), { live, balance: needed })).toBe("claim");
    expect(codeOf(requested(), { live, balance: needed - 1n })).toBe("BALANCE_TOO_LOW");
  });

  test("behavior: bond and gas of a claim just chosen are not there for the next", () => {
    const needed = bond + defenceGas(state.constants, 2) * gasPrice;
    const kinds = (balance: bigint) => {
      const decisions = decideRequests([requested(), requested()], models, { ...state, balance }, policy);
      return [...decisions.values()].map(({ kind }) => kind);
    };
    expect(kinds(2n * needed)).toEqual(["claim", "claim"]);
    expect(kinds(2n * needed - 1n)).toEqual(["claim", "skip"]);
  });

  test("behavior: claims with the greatest bond that the contract holds", () => {
    const rich = { balance: 2n ** 98n };
    expect(
      codeOf(requested({ minBond: MAX_AMOUNT }), rich, {
        ...policy,
        maxBonds: 2n ** 98n,
        maxBond: MAX_AMOUNT,
      }),
    ).toBe("claim");
  });
});

describe("decideRequests, with truths", () => {
  const proof = { method: "groth16", lane: LANE.PROOF, gas: 350_000n } as const;
  const execution = { method: "execution", lane: LANE.EXECUTION, gas: 100_000n } as const;
  const all = { lanes: 7, depth: 2, outputLength: 96, truths: [proof, execution] };
  const cost = (gas: bigint) => (gas * state.gasPrice * 120n) / 100n;
  const decide = (entry: RequestEntry, changes: Partial<ProverState> = {}, chosen: Policy = policy) =>
    decideRequests([entry], new Map([[MODEL, all]]), { ...state, ...changes }, chosen).get(entry.id);

  test("default: the cheapest of the accepted lanes", () => {
    expect(decide(requested({ lanes: 7 }))).toEqual({ kind: "settle", truth: execution });
    expect(decide(requested({ lanes: LANE.PROOF | LANE.BOND }))).toMatchObject({ kind: "claim" });
    expect(decide(requested({ lanes: LANE.PROOF, fee: cost(350_000n) }))).toEqual({
      kind: "settle",
      truth: proof,
    });
  });

  test("behavior: a truth needs neither bond nor window, and the fee must pay for its gas", () => {
    const entry = requested({ lanes: LANE.PROOF | LANE.BOND, window: 3_601, fee: cost(350_000n) });
    expect(decide(entry)).toEqual({ kind: "settle", truth: proof });
    expect(decide(entry, { fallen: new Set([entry.id]) })).toEqual({ kind: "settle", truth: proof });
    expect(decide(requested({ lanes: LANE.PROOF, fee: cost(350_000n) - 1n }))).toMatchObject({
      code: "FEE_TOO_LOW",
    });
    expect(decide(entry, {}, { ...policy, maxBonds: 0n })).toEqual({ kind: "settle", truth: proof });
  });

  test("behavior: of two that cost the same the bond, and the first truth", () => {
    const asClaim = { ...proof, gas: claimGas(all) };
    const decideWith = (...truths: (typeof asClaim)[]) => {
      const entry = requested({ lanes: LANE.PROOF | LANE.BOND, fee: ETHER });
      const model = { ...all, truths };
      return decideRequests([entry], new Map([[MODEL, model]]), state, policy).get(entry.id);
    };
    expect(decideWith(asClaim)).toMatchObject({ kind: "claim" });
    const cheaper = { ...asClaim, gas: asClaim.gas - 1n };
    expect(decideWith({ ...cheaper }, cheaper)).toEqual({ kind: "settle", truth: cheaper });
    const twin = { ...proof, method: "ezkl" } as const;
    expect(truthFor({ ...all, truths: [proof, twin] }, LANE.PROOF)).toBe(proof);
    expect(truthFor({ ...all, truths: [twin, proof] }, LANE.PROOF)).toBe(twin);
  });

  test("behavior: where neither lane can be paid the first one's reason is given", () => {
    const entry = requested({ lanes: 7 });
    expect(decide(entry, { balance: 0n })).toMatchObject({ kind: "skip", code: "BALANCE_TOO_LOW" });
    const settled = decideRequests(
      [requested({ lanes: 7 }), requested({ lanes: LANE.EXECUTION })],
      new Map([[MODEL, all]]),
      { ...state, balance: 150_000n * state.gasPrice },
      policy,
    );
    expect([...settled.values()].map(({ kind }) => kind)).toEqual(["settle", "skip"]);
    const onlyProof = requested({ lanes: LANE.PROOF, fee: cost(350_000n) });
    const gas = 350_000n * state.gasPrice;
    expect(decide(onlyProof, { balance: gas })).toEqual({ kind: "settle", truth: proof });
    expect(decide(onlyProof, { balance: gas - 1n })).toMatchObject({ code: "BALANCE_TOO_LOW" });
  });
});

describe("leastFee", () => {
  // 70,000 and 75,000 gas of two transactions and 40 a byte of the output, at 2 gwei, and a fifth more.
  test("default: pays for claim, output and finalize, and the margin", () => {
    expect(leastFee(terms, { gasPrice: 2n * 10n ** 9n, dataFee: NO_DATA_FEE }, policy)).toBe(
      357_216n * 10n ** 9n,
    );
    expect(
      leastFee({ ...terms, outputLength: 0 }, { gasPrice: 10n ** 9n, dataFee: NO_DATA_FEE }, policy),
    ).toBe(174_000n * 10n ** 9n);
  });
});

describe("leastDeliveryFee", () => {
  test("default: pays for the delivery and the callback's gas, and the margin", () => {
    expect(
      leastDeliveryFee(
        { callbackGas: 50_000, outputLength: 96 },
        { gasPrice: 10n ** 9n, dataFee: NO_DATA_FEE },
        policy,
      ),
    ).toBe(204_000n * 10n ** 9n);
  });
});

describe("disputeTruth", () => {
  const model = { ...terms, lanes: LANE.BOND | LANE.PROOF };
  const ended = (gas: bigint, lanes: number = LANE.PROOF) =>
    disputeTruth(
      { ...model, truths: [{ method: "groth16", lane: LANE.PROOF, gas }] },
      lanes,
      state.constants,
    );
  const defence = defenceGas(state.constants, model.depth);

  test("default: a truth that costs no more gas than the defence", () => {
    expect(ended(defence)).toMatchObject({ method: "groth16", gas: defence });
    expect(ended(defence + 1n)).toBeUndefined();
  });

  test("behavior: none where the node has none, or the request does not accept it", () => {
    expect(disputeTruth(model, LANE.PROOF, state.constants)).toBeUndefined();
    expect(ended(1n, LANE.BOND)).toBeUndefined();
  });
});

describe("claimGasPrice", () => {
  test("default: what a base fee half as high again asks for, or the floor", () => {
    expect(claimGasPrice(state.constants, 10n ** 9n)).toBe(75n * 10n ** 8n);
    expect(claimGasPrice(state.constants, 0n)).toBe(10n ** 9n);
  });

  test.each([0n, 10n ** 8n, 10n ** 9n, 7n * 10n ** 10n])(
    "behavior: in range now and after a rise by half, at %d",
    (baseFee) => {
      const price = claimGasPrice(state.constants, baseFee);
      for (const later of [baseFee, (baseFee * 3n) / 2n]) {
        const going = later * 5n > 10n ** 9n ? later * 5n : 10n ** 9n;
        expect(price >= going && price <= 2n * going).toBe(true);
      }
    },
  );
});

function claimed(changes: Partial<ClaimEntry> = {}): ClaimEntry {
  return {
    id: ZERO_HASH as ClaimId,
    claim: {} as Claim,
    output: "0x",
    windowEnd: 1_020,
    block: { number: 1n, hash: ZERO_HASH },
    status: "active",
    challengers: new Set(),
    collected: new Set(),
    demands: new Map(),
    ...changes,
  };
}
const active = (changes: Partial<ClaimWord> = {}): ClaimWord => ({
  ...EMPTY_CLAIM_WORD,
  state: "ACTIVE",
  windowEnd: 1_020,
  ...changes,
});

describe("decideClaim", () => {
  const challenged = active({ tickets: 1, pending: 1, traceDeadline: 1_005, hardEnd: 1_040 });
  test("default: waits while nobody moves, ends when it is final", () => {
    expect(decideClaim(claimed(), active(), 1_019, 5)).toEqual([]);
    expect(decideClaim(claimed(), active(), 1_020, 5)).toEqual([{ kind: "finalize" }]);
  });

  test("behavior: owes the trace until its deadline, the last second included", () => {
    expect(decideClaim(claimed(), challenged, 1_005, 5)).toEqual([{ kind: "commitTrace", due: 1_005 }]);
    expect(decideClaim(claimed(), challenged, 1_006, 5)).toEqual([]);
  });

  test("behavior: answers every open demand that is not late, and does not end meanwhile", () => {
    const demands = new Map([
      [1n, { by: OTHER, deadline: 1_030 } as const],
      [2n, { by: OTHER, deadline: 1_029, content: [] } as const],
      [3n, { by: OTHER, deadline: 1_024 } as const],
    ]);
    const trace = { root: ZERO_HASH, tops: [] };
    const word = active({ tickets: 1, pending: 2, traceDeadline: 1_005, lastEvent: 1_004, hardEnd: 1_040 });
    expect(decideClaim(claimed({ trace, demands }), word, 1_025, 5)).toEqual([
      { kind: "reveal", position: 1n, due: 1_030 },
    ]);
  });

  test("behavior: nothing for a claim that is over", () => {
    expect(decideClaim(claimed(), active({ state: "FALLEN" }), 2_000, 5)).toEqual([]);
    expect(decideClaim(claimed(), active({ state: "FINAL" }), 2_000, 5)).toEqual([]);
  });
});

describe("deliveryRefusal", () => {
  const market = { now: 1_000, gasPrice: 10n ** 9n, dataFee: NO_DATA_FEE, settledAt: 900 };
  const fee = leastDeliveryFee({ callbackGas: 50_000, outputLength: 96 }, market, policy);
  const done = (changes: Partial<Request> = {}, entry: Partial<RequestEntry> = {}) =>
    requested(
      { callback: OTHER, callbackGas: 50_000, deliveryFee: fee, ...changes },
      { status: "done", ...entry },
    );

  test("default: delivers what pays", () => {
    expect(deliveryRefusal(done(), market, policy)).toBeUndefined();
  });

  test.each([
    ["not done", done({}, { status: "busy" })],
    ["no callback", done({ callback: ZERO_ADDRESS })],
    ["is delivered", done({}, { delivered: true })],
    ["its delivery fee is", done({ deliveryFee: fee - 1n })],
  ])("behavior: not when it is %s", (reason, entry) => {
    expect(deliveryRefusal(entry, market, policy)).toContain(reason);
  });

  test("behavior: not when the fee can be reclaimed", () => {
    const at = (now: number, settledAt: number) =>
      deliveryRefusal(done(), { ...market, now, settledAt }, policy);
    expect(at(900 + 7 * 86_400, 900)).toContain("reclaimed");
    expect(at(899 + 7 * 86_400, 900)).toBeUndefined();
    // Not known yet when it was settled.
    expect(at(1_700_000_000, 0)).toBeUndefined();
  });
});

describe("quote", () => {
  test("behavior: a request at the quote is claimed, a wei less is not", () => {
    const { leastFee: fee, bond: quoted } = quote(terms, { callbackGas: 0, minBond: 0n }, state, policy);
    expect(decideOne(requested({ fee }))).toMatchObject({ kind: "claim", bond: quoted });
    expect(codeOf(requested({ fee: fee - 1n }))).toBe("FEE_TOO_LOW");
  });
});
