/** Signed answers that nobody may take, whatever asks for them. */
import { type Hex, type LocalAccount, parseEther } from "viem";
import type { Presented } from "../../../protocol/rules/promises/presented.ts";
import type { PromisesAddress, SignedClaim } from "../../../protocol/rules/promises/signed-claim.ts";

export interface SignedAttack {
  readonly what: string;
  readonly at: PromisesAddress;
  readonly presented: Presented;
  /** refusal of whoever asked for the answer */
  readonly code: string;
  /** what its message holds: the value, or the contract's own name for it */
  readonly reason: RegExp;
}

export interface AttackParts {
  readonly at: PromisesAddress;
  /** seconds */
  readonly now: number;
  /** that the prover never bound */
  readonly stranger: LocalAccount;
  /** Signs the answer to what is asked, with these changes. @param isOther the answer to another input instead */
  readonly sign: (
    changes: Partial<SignedClaim> & { readonly key?: LocalAccount },
    isOther?: boolean,
  ) => Promise<Presented>;
}

/** The prover has a stake below 50 ether. */
export async function signedAttacks({ at, now, stranger, sign }: AttackParts): Promise<SignedAttack[]> {
  const honest = await sign({});
  return [
    {
      ...{ what: "an answer to another input", at, presented: await sign({}, true) },
      ...{ code: "INPUT_MISMATCH", reason: /input has the hash 0x/ },
    },
    {
      ...{ what: "one that is over", at },
      presented: await sign({ issuedAt: now - 7_200, expiry: now - 3_600 }),
      ...{ code: "PROMISE_REFUSED", reason: new RegExp(`PromiseExpired.*${now - 3_600}`) },
    },
    {
      ...{ what: "one for another chain", at: { ...at, chainId: 1 }, presented: honest },
      ...{ code: "SIGNED_CLAIM_ELSEWHERE", reason: /on chain 1, not for/ },
    },
    {
      ...{ what: "one of a key that nobody bound", at, presented: await sign({ key: stranger }) },
      ...{ code: "PROMISE_REFUSED", reason: new RegExp(`SignerNotBound.*${stranger.address}`, "i") },
    },
    {
      ...{ what: "one with less stake behind it than it names", at },
      presented: await sign({ minBond: parseEther("50") }),
      ...{ code: "STAKE_TOO_LOW", reason: /free stake is .*, at least 50 ether/ },
    },
    {
      ...{ what: "the twin of a signature", at },
      presented: { ...honest, signature: twinOf(honest.signature) },
      ...{ code: "PROMISE_REFUSED", reason: /SignatureMalleable/ },
    },
  ];
}

/** Of secp256k1. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

/** The other signature that plain ECDSA takes for the same digest: −s, and the other v. */
function twinOf(signature: Hex): Hex {
  const [r, s, v] = [signature.slice(2, 66), BigInt(`0x${signature.slice(66, 130)}`), signature.slice(130)];
  const twin = (ORDER - s).toString(16).padStart(64, "0");
  return `0x${r}${twin}${v === "1b" ? "1c" : "1b"}`;
}
