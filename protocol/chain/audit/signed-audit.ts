/** Audits what happens to signed claims. */
import { type Address, keccak256, size } from "viem";
import { bondOf } from "../../rules/promises/money.ts";
import { PROMISE_RULES } from "../../rules/promises/rules.ts";
import { type Digest, digestOf, type SignedClaim } from "../../rules/promises/signed-claim.ts";
import type { SignedEntry } from "../../rules/promises/state.ts";
import { ZERO_ADDRESS, ZERO_HASH } from "../../rules/types.ts";
import type { PromiseEventOf } from "../promises/events.ts";
import type { ArgsOf, Made, PromiseReplay } from "./promise-replay.ts";
import { must, RuleBroken } from "./rules.ts";

export class SignedAudit {
  readonly #replay: PromiseReplay;

  constructor(replay: PromiseReplay) {
    this.#replay = replay;
  }

  queued({ digest, prover, opener, deposit, signed, input, output }: ArgsOf<"Queued">): void {
    this.#requireDigest(digest, prover, signed);
    must("identity", "the hash of the input", keccak256(input), signed.inputHash);
    must("identity", "the hash of the output", keccak256(output), signed.outputHash);
    const made = this.#open(signed, { opener, deposit, outputLength: size(output) });
    if (made.claimId !== undefined)
      throw new RuleBroken("moves", `signed claim ${digest} waits, although there is stake for it`);
    must("payoff", "the deposit", deposit, this.#replay.kept.signed.get(digest)?.deposit);
  }

  opened({ digest, prover, claimId, opener, deposit, signed }: ArgsOf<"Opened">): void {
    this.#requireDigest(digest, prover, signed);
    const claim = this.#replay.sequence.takeClaim(claimId);
    this.#replay.once(digest);
    const output = { hash: keccak256(claim.output), length: size(claim.output) };
    const input = { hash: keccak256(claim.input), canonical: true };
    const made =
      this.#replay.kept.signed.get(digest)?.status === "QUEUED"
        ? this.#replay.play(
            { kind: "openNext", from: opener, claim: signed, input, output },
            { prover, digests: [digest] },
          )
        : this.#open(signed, { opener, deposit, outputLength: output.length });
    this.#replay.requireClaim(made, claim, prover);
    const entry = this.#replay.kept.signed.get(digest);
    must("payoff", "the deposit", deposit, entry?.deposit);
    must("payoff", "the opener", opener, entry?.opener);
  }

  /** Plays `open`. Which key signed, no event says: one must have been bound. */
  #open(
    claim: SignedClaim,
    { opener, deposit, outputLength }: { opener: Address; deposit: bigint; outputLength: number },
  ): Made {
    const { prover, inputHash, outputHash, issuedAt } = claim;
    const keys = [...this.#replay.kept.account(prover).keys];
    const [signer] = keys.find(([, until]) => until >= issuedAt) ?? keys[0] ?? [ZERO_ADDRESS];
    return this.#replay.play(
      {
        ...{ kind: "open", from: opener, value: deposit + this.#replay.sequence.takeLoose(opener), claim },
        signature: { signer, isEcdsa: true },
        input: { hash: inputHash, canonical: true },
        output: { hash: outputHash, length: outputLength },
      },
      { prover, digests: [digestOf(this.#replay.at, claim)], account: opener },
    );
  }

  passed({ name, args: { prover, digest } }: PromiseEventOf<"HeadTooDear" | "Passed">): void {
    const account = this.#replay.kept.account(prover);
    const [head, ...rest] = account.queue;
    must("moves", "the head of the queue", digest, head);
    if (name === "HeadTooDear") must("moves", "since when the head was too dear", account.hotSince, 0);
    else if (account.hotSince === 0)
      throw new RuleBroken("deadline", "nobody noted that the head is too dear");
    // No event says for whose sake it is passed: there must be one.
    const behind = rest.find((other) => !this.#isDear(prover, other)) ?? rest[0] ?? (ZERO_HASH as Digest);
    this.#replay.play(
      { kind: "passNext", from: ZERO_ADDRESS, prover, behind },
      { prover, digests: account.queue },
    );
  }

  #isDear(prover: Address, digest: Digest): boolean {
    const account = this.#replay.kept.account(prover);
    const { claim } = this.#replay.kept.signed.get(digest) as SignedEntry;
    const state = this.#replay.kept.about({ prover });
    return (
      bondOf(state, account, claim, this.#replay.block.baseFee, PROMISE_RULES) >
      account.free + account.leaving
    );
  }

  takenBack({ prover, digest }: ArgsOf<"TakenBack">): void {
    const entry = this.#replay.kept.signed.get(digest);
    if (entry === undefined) throw new RuleBroken("identity", `nobody opened signed claim ${digest}`);
    const { opener, deposit, claim } = entry;
    must("identity", "the prover", prover, claim.prover);
    this.#replay.play(
      { kind: "takeBack", from: opener, digest },
      { prover, digests: [digest], account: opener },
    );
    this.#replay.sequence.credit(opener, deposit);
  }

  #requireDigest(digest: Digest, prover: Address, signed: SignedClaim): void {
    must("identity", "the digest", digest, digestOf(this.#replay.at, signed));
    must("identity", "the prover", prover, signed.prover);
  }
}
