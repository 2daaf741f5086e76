/** What may stand between the events of one call of Promises. */
import type { Address, Hex } from "viem";
import { describe, expect, it } from "vitest";
import { PromiseSequence } from "../../../protocol/chain/audit/promise-sequence.ts";
import type { AuditedEvent } from "../../../protocol/chain/audit/source.ts";
import { hashOf } from "../../support/batches.ts";
import { addressOf } from "../../support/game-table.ts";

const [PROMISES, ASSAY, STRANGER] = [addressOf(1), addressOf(2), addressOf(3)];
const [OWN, OTHER] = [hashOf(900), hashOf(901)];

const eventOf = (contract: Address, name: string, args: object, transactionHash: Hex = OWN): AuditedEvent =>
  ({ contract, name, args, transactionHash }) as unknown as AuditedEvent;
const claimed = (prover: Address, transaction?: Hex) =>
  eventOf(ASSAY, "Claimed", { claim: { prover } }, transaction);

describe("PromiseSequence", () => {
  it("behavior: behind a request of Promises comes its own claim, in the same transaction", () => {
    const requested = (): PromiseSequence => {
      const sequence = new PromiseSequence(PROMISES);
      sequence.admit(eventOf(ASSAY, "Requested", {}));
      sequence.requested("0x");
      return sequence;
    };
    const early = "Claimed of Promises must come before it";
    expect(() => requested().admit(claimed(STRANGER))).toThrow(early);
    expect(() => requested().admit(claimed(PROMISES, OTHER))).toThrow(early);
    expect(() => requested().admit(eventOf(PROMISES, "Opened", {}))).toThrow(early);
    expect(() => requested().end()).toThrow("Claimed of Promises must come behind it");
    expect(() => requested().admit(claimed(PROMISES))).not.toThrow();
  });

  it("behavior: what was sent above a deposit is credited right before its opening", () => {
    const credited = (): PromiseSequence => {
      const sequence = new PromiseSequence(PROMISES);
      sequence.admit(eventOf(PROMISES, "Credited", {}));
      sequence.credited(STRANGER, 5n);
      return sequence;
    };
    const requested = (requester: Address) => eventOf(ASSAY, "Requested", { request: { requester } });
    expect(() => credited().admit(requested(STRANGER))).toThrow("for nothing");
    expect(() => credited().admit(claimed(STRANGER))).toThrow("for nothing");
    expect(() => credited().end()).toThrow("for nothing");
    expect(() => credited().admit(requested(PROMISES))).not.toThrow();
    expect(() => credited().admit(eventOf(PROMISES, "Queued", {}))).not.toThrow();
  });

  it("behavior: what closing brings is withdrawn by Promises, and by nobody else meanwhile", () => {
    const closed = (): PromiseSequence => {
      const sequence = new PromiseSequence(PROMISES);
      sequence.admit(eventOf(PROMISES, "Closed", {}));
      sequence.pull(5n);
      return sequence;
    };
    const withdrawn = (account: Address) => eventOf(ASSAY, "Withdrawn", { account });
    expect(() => closed().admit(withdrawn(STRANGER))).toThrow("must come before it");
    expect(() => closed().admit(eventOf(PROMISES, "Withdrawn", { account: PROMISES }))).toThrow(
      "must come before it",
    );
    expect(() => closed().admit(withdrawn(PROMISES))).not.toThrow();
    expect(() => closed().pulled(6n)).toThrow("what Promises takes out of Assay");
  });
});
