import { type Hex, keccak256 } from "viem";
import { describe, expect, it } from "vitest";
import {
  type Final,
  type Policy,
  parseReceipt,
  policyOf,
  type Receipt,
  receiptOf,
  renderReceipt,
  type Trust,
  verifyReceipt,
} from "../../../agent/sdk/index.ts";
import { isFinalBy } from "../../../protocol/chain/finality.ts";
import { LANE } from "../../../protocol/rules/types.ts";
import { accountAt } from "../../support/anvil.ts";
import { bytesOutput } from "../../support/claims.ts";
import {
  ask,
  bonded,
  claim,
  DATA,
  local,
  openLocalSdk,
  pendingClaim,
  settle,
  system,
  waitFor,
} from "../../support/sdk.ts";

openLocalSdk();

const trustAt = (blockHash: Hex): Trust => ({
  ...system.chain.game,
  answerSeconds: system.chain.constants.answerSeconds,
  blockHash,
});
const verify = (receipt: Receipt, policy: Policy, changes: Partial<Trust> = {}) =>
  verifyReceipt(receipt, { ...trustAt(keccak256(receipt.header)), ...changes }, policy);
/** The code of an invalid receipt, else "valid". */
const codeOf = (verdict: ReturnType<typeof verifyReceipt>) => (verdict.valid ? "valid" : verdict.error.code);

describe("verifyReceipt", () => {
  it("default: shows finality by bond to whoever trusts the block's hash, through JSON", async () => {
    const { asked, final } = await bonded();
    const receipt = parseReceipt(renderReceipt(await receiptOf(system.chain, asked, final)));
    const { hash, number } = await local.client.getBlock({ blockHash: final.block.hash });
    expect(verifyReceipt(receipt, trustAt(hash), policyOf(asked))).toMatchObject({
      valid: true,
      requestId: asked.requestId,
      claimId: final.claimId,
      lane: LANE.BOND,
      output: bytesOutput(DATA),
      block: { hash, number, timestamp: final.block.timestamp },
    });
  });

  it("behavior: of truth without a claim, and with a claim that agreed", async () => {
    for (const agrees of [false, true]) {
      const asked = await ask();
      if (agrees) await claim(asked);
      const { claim: terms } = agrees ? await pendingClaim(asked) : {};
      await settle(asked, terms);
      const final = await waitFor(asked);
      const receipt = await receiptOf(system.chain, asked, final);
      expect(verify(receipt, policyOf(asked))).toMatchObject({ valid: true, lane: LANE.EXECUTION });
      // The bond of a claim that truth made final is no reason to trust it, and is not asked for.
      expect(codeOf(verify(receipt, policyOf(asked, { minBond: 10n ** 20n })))).toBe("valid");
      expect(codeOf(verify(receipt, policyOf(asked, { lanes: LANE.BOND })))).toBe("WRONG_LANE");
    }
  });

  it("behavior: after truth against a claim, that claim shows nothing", async () => {
    const asked = await ask();
    await claim(asked, "0xdeadbeef");
    const { claim: wrong } = await pendingClaim(asked);
    if (wrong === undefined) throw new Error("no claim");
    await settle(asked, wrong);
    const receipt = await receiptOf(system.chain, asked, await waitFor(asked));
    expect(codeOf(verify(receipt, policyOf(asked)))).toBe("valid");
    const lie = { ...receipt, claim: wrong, output: bytesOutput("0xdeadbeef") };
    expect(codeOf(verify(lie, policyOf(asked)))).toBe("WRONG_OUTPUT");
    // Who leaves out the node that holds the result does not make it look like zero.
    for (const [index] of receipt.nodes.entries()) {
      const cut = { ...lie, nodes: lie.nodes.filter((_, at) => at !== index) };
      expect(codeOf(verify(cut, policyOf(asked)))).not.toBe("valid");
    }
  });

  it("behavior: decides as requireFinal does, whatever policy, claim and output", async () => {
    const { asked, final } = await bonded({ minBond: 10n ** 18n, window: 40 });
    const receipt = await receiptOf(system.chain, asked, final);
    const { claim: terms } = final;
    if (terms === undefined) throw new Error("no claim");
    const own = policyOf(asked);
    const policies: Policy[] = [
      own,
      { ...own, modelId: system.modelId },
      { ...own, inputHash: keccak256("0x") },
      { ...own, lanes: LANE.EXECUTION },
      { ...own, minBond: terms.bond + 1n },
      { ...own, minBond: terms.bond },
      { ...own, minWindow: 41 },
      { ...own, minWindow: 40 },
    ];
    const receipts: Receipt[] = [
      receipt,
      { ...receipt, output: bytesOutput("0x00000000") },
      { ...receipt, claim: { ...terms, bond: terms.bond + 1n } },
      { ...receipt, claim: { ...terms, outputHash: keccak256("0x") } },
      { ...receipt, claim: { ...terms, requestId: keccak256("0x") as never } },
      { ...receipt, request: { ...receipt.request, salt: 1n } },
      { ...receipt, request: { ...receipt.request, window: 41 } },
    ];
    let accepted = 0;
    for (const one of receipts) {
      for (const policy of policies) {
        const candidate = {
          output: one.output,
          lane: LANE.BOND,
          claim: { claimId: "0x" as never, terms: one.claim ?? terms },
        };
        const at = { blockHash: final.block.hash };
        const isFinal = await isFinalBy(system.chain, one.request, candidate, policy, at);
        accepted += isFinal ? 1 : 0;
        expect(verify(one, policy).valid).toBe(isFinal);
      }
    }
    expect(accepted).toBe(3);
  });

  it("error: one flipped bit anywhere in proof or header, another block, contract or code", async () => {
    const { asked, final } = await bonded();
    const receipt = await receiptOf(system.chain, asked, final);
    const policy = policyOf(asked);
    const trust = trustAt(final.block.hash);
    const flip = (hex: Hex, at: number): Hex => {
      const digit = 2 + (at % (hex.length - 2));
      const changed = (Number.parseInt(hex[digit] ?? "0", 16) ^ 1).toString(16);
      return `0x${hex.slice(2, digit)}${changed}${hex.slice(digit + 1)}`;
    };
    for (const [index, node] of receipt.nodes.entries()) {
      const nodes = receipt.nodes.with(index, flip(node, 37 * index + 11));
      expect(codeOf(verifyReceipt({ ...receipt, nodes }, trust, policy))).toBe("RECEIPT_UNPROVEN");
    }
    for (const at of [0, 100, 500, receipt.header.length - 3]) {
      const header = flip(receipt.header, at);
      expect(codeOf(verifyReceipt({ ...receipt, header }, trust, policy))).not.toBe("valid");
    }
    expect(codeOf(verify(receipt, policy, { blockHash: keccak256("0x") }))).toBe("RECEIPT_UNPROVEN");
    expect(codeOf(verify(receipt, policy, { assay: accountAt(9).address }))).not.toBe("valid");
    expect(codeOf(verify(receipt, policy, { chainId: 1 }))).not.toBe("valid");
    const code = await local.client.getCode({ address: system.chain.game.assay });
    const codeHash = keccak256(code ?? "0x");
    expect(codeOf(verify(receipt, policy, { codeHash }))).toBe("valid");
    expect(codeOf(verify(receipt, policy, { codeHash: keccak256("0x") }))).toBe("RECEIPT_UNPROVEN");
  });

  it("error: before finality there is none", async () => {
    const asked = await ask();
    await claim(asked);
    const { claim: terms } = await pendingClaim(asked);
    const early = await local.client.getBlock();
    const block = { number: early.number, hash: early.hash, timestamp: Number(early.timestamp) };
    const output = bytesOutput(DATA);
    const final: Final = {
      requestId: asked.requestId,
      lane: "BOND",
      values: {},
      output,
      finalAt: 0,
      block,
      ...(terms === undefined ? {} : { claim: terms }),
    };
    await expect(receiptOf(system.chain, asked, final)).rejects.toThrow(
      expect.objectContaining({ code: "RECEIPT_UNPROVABLE", message: expect.stringContaining("ACTIVE") }),
    );
  });
});

describe("parseReceipt", () => {
  it("error: text that is no receipt, with the field", async () => {
    const { asked, final } = await bonded();
    const text = renderReceipt(await receiptOf(system.chain, asked, final));
    const value = JSON.parse(text) as Record<string, unknown>;
    const bad: readonly [unknown, string][] = [
      [{ ...value, format: "assay-receipt-2" }, "format"],
      [{ ...value, nodes: Array.from({ length: 257 }, () => "0x") }, "nodes"],
      [{ ...value, nodes: ["0x1"] }, "nodes.0"],
      [{ ...value, header: `0x${"00".repeat(9_000)}` }, "header"],
      [{ ...value, output: "0XAA" }, "output"],
      [{ ...value, request: { ...asked.request, fee: "-1", salt: "1" } }, "request."],
      [{ ...value, extra: 1 }, "Unrecognized"],
      [7, "it: "],
    ];
    for (const [one, where] of bad) {
      const json = JSON.stringify(one, (_key, part) => (typeof part === "bigint" ? `${part}` : part));
      expect(() => parseReceipt(json)).toThrow(
        expect.objectContaining({ code: "RECEIPT_MALFORMED", message: expect.stringContaining(where) }),
      );
    }
    expect(() => parseReceipt(text.slice(0, -3))).toThrow(
      expect.objectContaining({ code: "RECEIPT_MALFORMED" }),
    );
  });

  it("error: a value of other types is invalid and throws nothing", () => {
    for (const value of [{}, { nodes: [1], header: 2 }, { request: null, header: "0xc0", nodes: [] }]) {
      const verdict = verifyReceipt(value as never, trustAt(keccak256("0xc0")), {} as never);
      expect(codeOf(verdict)).toBe("RECEIPT_MALFORMED");
    }
  });
});
