/** Signed claims and whose their signatures are (docs/PROMISES.md, section 7). */
import { type Hex, toHex } from "../../base/bytes.ts";
import {
  digestOf,
  type PromisesAddress,
  type SignedClaim,
} from "../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { type Area, type Case, refusedCase, wordCase } from "../case.ts";
import { createRng, type Rng } from "../generate/rng.ts";
import { packed, signedWords } from "../lines.ts";
import {
  addressOfKey,
  ORDER,
  ofInfinity,
  type Parts,
  recover,
  sign,
  signatureOf,
} from "../reference/secp256k1.ts";
import { amount, randomAddress, randomHash } from "./game.ts";

export const randomPlace = (rng: Rng): PromisesAddress => ({
  chainId: rng.int(1, 2 ** 40),
  promises: randomAddress(rng),
});
export const placeWords = ({ chainId, promises }: PromisesAddress): string[] => [
  packed(chainId, 8),
  promises,
];

const randomSigned = (rng: Rng): SignedClaim => ({
  prover: randomAddress(rng),
  modelId: randomHash(rng) as ModelId,
  inputHash: randomHash(rng),
  outputHash: randomHash(rng),
  requester: randomAddress(rng),
  issuedAt: Number(amount(rng, 5)),
  expiry: Number(amount(rng, 5)),
  minBond: amount(rng, 12),
  salt: amount(rng, 8),
});

/** Keys, nonces and signatures come from a plain reference, which is dear: fewer seeds do. */
const SIGNATURE_SHARE = 0.002;

export const SIGNED_CLAIMS: Area = {
  name: "signed-claims",
  about: "digests of signed claims, and whose signatures are: of keys, of none, in other forms, changed",
  lines: ["digest", "signer"],
  share: SIGNATURE_SHARE,
  *cases(seed) {
    const rng = createRng(seed);
    const [place, signed] = [randomPlace(rng), randomSigned(rng)];
    const digest = digestOf(place, signed);
    const words = signedWords(signed);
    yield wordCase(["digest", ...placeWords(place), ...words], [digest], ["digest"]);
    // A salt of 65 bits.
    yield refusedCase(["digest", ...placeWords(place), ...words.slice(0, -1), packed(1n << 64n)]);
    const [key, nonce] = [number(rng), number(rng)];
    const made = sign(digest, key, nonce);
    const { r, s, v } = made;
    const right = signatureOf(made);
    yield wordCase(["signer", digest, right], [addressOfKey(key)], ["signer"]);
    // Its twin, which the same key made as well.
    yield signerCase(digest, { r, s: ORDER - s, v: 55 - v });
    yield signerCase(digest, { r, s, v: 55 - v });
    yield signerCase(digest, { r, s, v: rng.pick([0, 1, v - 27, 26, 29, 30, rng.int(31, 255)]) });
    yield signerCase(digest, ofInfinity(digest, nonce));
    yield signerCase(digest, { r: rng.pick([0n, ORDER, ORDER + 1n, r + 1n, number(rng)]), s, v });
    yield signerCase(digest, { r, s: rng.pick([0n, 1n, ORDER / 2n, ORDER / 2n + 1n, ORDER - 1n]), v });
    // A digest above the order, and the least.
    yield signerCase(rng.pick<Hex>([toHex(new Uint8Array(32)), `0x${"ff".repeat(32)}`]), made);
    const compact: Hex = `0x${right.slice(2, 66)}${(s | (BigInt(v - 27) << 255n)).toString(16).padStart(64, "0")}`;
    const short = right.slice(0, -2 * rng.int(1, 65)) as Hex;
    for (const other of [compact, short, `${right}00` as const]) yield refusedCase(["signer", digest, other]);
  },
};

/** A number from 1 to n − 1, often a small one. */
const number = (rng: Rng): bigint => 1n + (amount(rng, 32) % (ORDER - 1n));

function signerCase(digest: Hex, parts: Parts): Case {
  const line = ["signer", digest, signatureOf(parts)] as const;
  const signer = recover(digest, parts);
  return signer === undefined ? refusedCase(line) : wordCase(line, [signer], ["signer"]);
}
