import { type Hex, keccak256 } from "viem";
import { describe, expect, it } from "vitest";
import {
  type Asked,
  type ClaimId,
  type CorrectnessRecord,
  makeRecord,
  parseRecord,
  type RecordVerdict,
  renderRecord,
  type Trust,
  verifyRecord,
} from "../../../agent/sdk/index.ts";
import { Actions } from "../../../protocol/chain/actions.ts";
import { claimIdOf } from "../../../protocol/rules/ids.ts";
import { LANE } from "../../../protocol/rules/types.ts";
import { accountAt } from "../../support/anvil.ts";
import { bytesOutput, claimAction } from "../../support/claims.ts";
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
} from "../../support/sdk.ts";

openLocalSdk();

const WRONG = "0xdeadbeef";
const PAYMENT = { network: "eip155:8453", transaction: keccak256("0x01") };

const recordOf = async ({ requestId }: Asked, claimId?: ClaimId) => {
  const { hash } = await local.client.getBlock();
  return makeRecord(system.chain, { requestId, claimId, payment: PAYMENT }, hash);
};
/** As somebody who trusts the hash of the record's block. */
const trustIn = (record: CorrectnessRecord): Trust => ({
  ...system.chain.game,
  answerSeconds: system.chain.constants.answerSeconds,
  blockHash: keccak256(record.header),
});
const codeOf = (verdict: RecordVerdict) => (verdict.valid ? verdict.end : verdict.error.code);
const idOf = async (asked: Asked) => {
  const { claim: terms } = await pendingClaim(asked);
  if (terms === undefined) throw new Error("no claim");
  return { terms, claimId: claimIdOf(system.chain.game, terms) };
};
const done = async (sent: ReturnType<typeof system.sender.send>) => expect((await sent).status).toBe("sent");

/** A claim of a wrong output that truth felled; truth's output is final. */
async function fallen() {
  const asked = await ask();
  await claim(asked, WRONG);
  const { terms, claimId } = await idOf(asked);
  await settle(asked, terms);
  return { asked, terms, claimId };
}

describe("verifyRecord", () => {
  it("default: a claim that fell, and the output that is final instead, through JSON and without a node", async () => {
    const { asked, claimId } = await fallen();
    const record = parseRecord(renderRecord(await recordOf(asked, claimId)));
    expect(verifyRecord(record, trustIn(record), { claimId })).toMatchObject({
      valid: true,
      end: "FALLEN",
      fall: "TRUTH",
      requestId: asked.requestId,
      claimId,
      output: bytesOutput(WRONG),
    });
    expect(record.input).toBe(asked.input);
    expect(record.unproven).toMatchObject({ ended: { event: "Fell" }, payment: PAYMENT });
    const right = await recordOf(asked);
    expect(verifyRecord(right, trustIn(right))).toMatchObject({
      end: "FINAL",
      lane: LANE.EXECUTION,
      output: bytesOutput(DATA),
    });
    expect(right.unproven.ended?.event).toBe("Settled");
  });

  it("behavior: final by bond, before and after somebody books it; final by truth that agreed", async () => {
    const { asked, final } = await bonded();
    const early = await recordOf(asked);
    expect(verifyRecord(early, trustIn(early))).toMatchObject({
      end: "FINAL",
      lane: LANE.BOND,
      fall: "NONE",
    });
    expect(early.unproven.ended).toBeUndefined();
    if (final.claim === undefined) throw new Error("no claim");
    await done(system.sender.send(new Actions(system.chain.game).finalize(asked.request, final.claim)));
    const booked = await recordOf(asked);
    expect(verifyRecord(booked, trustIn(booked))).toMatchObject({ end: "FINAL", lane: LANE.BOND });
    expect(booked.unproven.ended?.event).toBe("Finalized");

    const agreed = await ask();
    await claim(agreed);
    const { terms, claimId } = await idOf(agreed);
    await settle(agreed, terms);
    const record = await recordOf(agreed);
    expect(verifyRecord(record, trustIn(record))).toMatchObject({
      end: "FINAL",
      lane: LANE.EXECUTION,
      claimId,
    });
  });

  it("behavior: pending before its end, fallen by a timeout after it, and the claim after it on its own", async () => {
    const asked = await ask();
    await claim(asked, WRONG);
    const { terms, claimId } = await idOf(asked);
    const pending = await recordOf(asked);
    expect(verifyRecord(pending, trustIn(pending))).toMatchObject({ end: "PENDING", fall: "NONE" });
    const actions = new Actions(system.chain.game);
    await done(system.sender.send(actions.challenge(terms)));
    await local.passTime(system.chain.constants.answerSeconds + 1);
    await done(system.sender.send(actions.timeoutTrace(terms)));
    const record = await recordOf(asked, claimId);
    expect(verifyRecord(record, trustIn(record))).toMatchObject({ end: "FALLEN", fall: "TRACE_TIMEOUT" });
    // The old record still says what was so at its block, and no more.
    expect(codeOf(verifyRecord(pending, trustIn(pending)))).toBe("PENDING");
    await done(system.sender.send(await claimAction(system.chain, asked.request, bytesOutput(DATA), 1)));
    const next = await recordOf(asked);
    expect(codeOf(verifyRecord(next, trustIn(next)))).toBe("PENDING");
    expect(codeOf(verifyRecord(next, trustIn(next), { claimId }))).toBe("WRONG_CLAIM");
    const { claimId: second } = await idOf(asked);
    expect([
      (await recordOf(asked, second)).claim?.attempt,
      (await recordOf(asked, claimId)).claim?.attempt,
    ]).toEqual([1, 0]);
  });

  it("error: another subject, claim, output, input, block, contract or code, and any node left out", async () => {
    const { asked, terms, claimId } = await fallen();
    const record = await recordOf(asked, claimId);
    const trust = trustIn(record);
    const subjects = [
      ["modelId", "WRONG_MODEL"],
      ["inputHash", "WRONG_INPUT"],
      ["requestId", "WRONG_REQUEST"],
      ["claimId", "WRONG_CLAIM"],
    ] as const;
    for (const [name, code] of subjects)
      expect(codeOf(verifyRecord(record, trust, { [name]: keccak256("0x") }))).toBe(code);
    const { modelId, inputHash } = asked.request;
    const own = { modelId, inputHash, requestId: asked.requestId, claimId };
    expect(codeOf(verifyRecord(record, trust, own))).toBe("FALLEN");
    const other = await bonded();
    const changed: readonly [Partial<CorrectnessRecord>, string][] = [
      // Whoever paid for the right output is not unproven that it fell, and the other way round.
      [{ output: bytesOutput(DATA) }, "WRONG_OUTPUT"],
      [{ claim: { ...terms, outputHash: keccak256(bytesOutput(DATA)) } }, "RECEIPT_UNPROVEN"],
      [{ claim: { ...terms, requestId: other.asked.requestId } }, "RECEIPT_UNPROVEN"],
      [{ claim: other.final.claim }, "RECEIPT_UNPROVEN"],
      [{ claim: undefined }, "WRONG_OUTPUT"],
      [{ input: `${record.input}00` }, "RECEIPT_UNPROVEN"],
      [{ request: other.asked.request }, "RECEIPT_UNPROVEN"],
      [{ request: { ...record.request, salt: 7n } }, "RECEIPT_UNPROVEN"],
    ];
    for (const [change, code] of changed)
      expect(codeOf(verifyRecord({ ...record, ...change }, trust)), JSON.stringify(Object.keys(change))).toBe(
        code,
      );
    const bond = await recordOf(other.asked);
    expect(codeOf(verifyRecord({ ...bond, claim: undefined }, trustIn(bond)))).toBe("RECEIPT_UNPROVEN");
    // A claim that is there, of another request: both at one block.
    const fell = await recordOf(asked, claimId);
    const mixed = { ...fell, claim: bond.claim, output: bond.output, nodes: [...fell.nodes, ...bond.nodes] };
    expect([fell.header, codeOf(verifyRecord(mixed, trustIn(mixed)))]).toEqual([
      bond.header,
      "RECEIPT_UNPROVEN",
    ]);
    for (const [index] of record.nodes.entries()) {
      const nodes = record.nodes.filter((_, at) => at !== index);
      // The node of the result's absence or presence is not looked at when there is a claim.
      expect(["RECEIPT_UNPROVEN", "FALLEN"]).toContain(codeOf(verifyRecord({ ...record, nodes }, trust)));
    }
    const trusts: readonly Partial<Trust>[] = [
      { blockHash: keccak256("0x") },
      { assay: accountAt(9).address },
      { chainId: 1 },
      { codeHash: keccak256("0x") },
    ];
    for (const one of trusts)
      expect(codeOf(verifyRecord(record, { ...trust, ...one }))).toBe("RECEIPT_UNPROVEN");
  });
});

describe("a forged record", () => {
  /** Each value of a JSON tree that is no object, with its path. */
  function* leaves(
    value: unknown,
    path: readonly string[] = [],
  ): Generator<readonly [readonly string[], unknown]> {
    if (typeof value !== "object" || value === null) yield [path, value];
    else for (const [name, part] of Object.entries(value)) yield* leaves(part, [...path, name]);
  }
  const put = (value: unknown, [name, ...rest]: readonly string[], leaf: unknown): unknown => {
    if (name === undefined) return leaf;
    const copy = (Array.isArray(value) ? [...value] : { ...(value as object) }) as Record<string, unknown>;
    copy[name] = put(copy[name], rest, leaf);
    return copy;
  };
  function* changes(leaf: unknown): Generator<unknown> {
    if (typeof leaf === "number") {
      for (const other of [leaf + 1, -leaf - 1, leaf + 0.5, `${leaf}`, 2 ** 53]) yield other;
      return;
    }
    const text = leaf as string;
    const hexes = text.startsWith("0x");
    for (let part = 0; part < 12; part += 1) {
      const at = hexes ? 2 + Math.floor(((text.length - 3) * part) / 11) : Math.min(part, text.length - 1);
      const digit = Number.parseInt(text[at] ?? "0", 16);
      yield `${text.slice(0, at)}${Number.isNaN(digit) ? "~" : (digit ^ 1).toString(16)}${text.slice(at + 1)}`;
    }
    for (const other of [
      `${text}00`,
      text.slice(0, -2),
      text.slice(0, -1),
      ` ${text}`,
      `+${text}`,
      `0${text}`,
      "",
      null,
    ])
      yield other;
    if (hexes) yield `0x${text.slice(2).toUpperCase()}`;
  }

  it("error: any value that is changed shows nothing, or the same, or is among what is unproven", async () => {
    const { asked, claimId } = await fallen();
    const { asked: final } = await bonded();
    let tried = 0;
    for (const record of [await recordOf(asked, claimId), await recordOf(asked), await recordOf(final)]) {
      const trust = trustIn(record);
      const right = verifyRecord(record, trust);
      const value = JSON.parse(renderRecord(record)) as unknown;
      for (const [path, leaf] of leaves(value)) {
        for (const other of changes(leaf)) {
          if (other === leaf) continue;
          tried += 1;
          let forged: CorrectnessRecord;
          try {
            forged = parseRecord(JSON.stringify(put(value, path, other)));
          } catch (error) {
            expect(error).toMatchObject({ code: "RECEIPT_MALFORMED" });
            continue;
          }
          const verdict = verifyRecord(forged, trust);
          if (!verdict.valid) {
            expect(verdict.error.code).toMatch(/^(RECEIPT_(MALFORMED|UNPROVEN)|WRONG_\w+)$/);
            continue;
          }
          const where = `${path.join(".")}: ${other}`;
          expect(verdict, where).toEqual(right);
          // A node that is not on the way may be any, and an address may be written in capitals.
          const isFree = ["unproven", "nodes"].includes(path[0] as string);
          expect(isFree || `${other}`.toLowerCase() === `${leaf}`.toLowerCase(), where).toBe(true);
        }
      }
    }
    expect(tried).toBeGreaterThan(1_500);
  });

  it("error: JSON or RLP that is nested deep, or long, is no record", async () => {
    const { asked } = await bonded();
    const record = await recordOf(asked);
    const value = JSON.parse(renderRecord(record)) as Record<string, unknown>;
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const long = JSON.stringify(`0x${"00".repeat(1 << 20)}`);
    for (const name of ["nodes", "header", "output", "input", "request", "claim", "unproven"]) {
      for (const bad of [deep, long, `[${long}]`]) {
        const text = JSON.stringify({ ...value, [name]: "BAD" }).replace('"BAD"', bad);
        expect(() => parseRecord(text)).toThrow(expect.objectContaining({ code: "RECEIPT_MALFORMED" }));
      }
    }
    // The longest header, of lists in lists.
    const header: Hex = `0x${"c1".repeat(8_000)}`;
    const nested = { ...record, header, nodes: [header] };
    const trust = { ...trustIn(record), blockHash: keccak256(header) };
    expect(codeOf(verifyRecord(nested, trust))).toMatch(/^RECEIPT_/);
  });
});

describe("makeRecord", () => {
  it("error: a request that is unknown or unanswered, a claim of another request", async () => {
    const asked = await ask();
    const { claimId } = await fallen();
    const unknown = { ...asked, requestId: keccak256("0x") as Asked["requestId"] };
    for (const [made, code] of [
      [recordOf(unknown), "REQUEST_UNKNOWN"],
      [recordOf(asked), "REQUEST_UNANSWERED"],
      [recordOf(asked, claimId), "CLAIM_UNKNOWN"],
    ] as const)
      await expect(made).rejects.toThrow(expect.objectContaining({ code }));
  });
});

describe("parseRecord", () => {
  it("error: text that is no record, with the field", async () => {
    const { asked } = await bonded();
    const value = JSON.parse(renderRecord(await recordOf(asked))) as Record<string, unknown>;
    const bad: readonly [object, string][] = [
      [{ ...value, format: "assay-receipt-1" }, "format"],
      [{ ...value, input: "0x1" }, "input"],
      [{ ...value, unproven: { ended: { event: "Claimed", transaction: value.input } } }, "unproven.ended"],
      [{ ...value, unproven: { payment: { ...PAYMENT, network: "here" } } }, "unproven.payment.network"],
      [{ ...value, unproven: { verdict: "fraud" } }, "unproven"],
      [{ ...value, unproven: undefined }, "unproven"],
    ];
    for (const [one, where] of bad)
      expect(() => parseRecord(JSON.stringify(one))).toThrow(
        expect.objectContaining({ code: "RECEIPT_MALFORMED", message: expect.stringContaining(where) }),
      );
    const text: Hex = "0x";
    expect(() => parseRecord(text)).toThrow(expect.objectContaining({ code: "RECEIPT_MALFORMED" }));
  });
});
