/** Encrypted key files: Web3 Secret Storage, version 3. */
import {
  createCipheriv,
  createDecipheriv,
  pbkdf2Sync,
  randomBytes,
  randomUUID,
  scryptSync,
  timingSafeEqual,
} from "node:crypto";
import { type Hex, keccak256 } from "viem";
import { privateKeyToAddress } from "viem/accounts";
import { z } from "zod";
import { BaseError } from "../../base/errors.ts";

const hexOf = (bytes?: number) =>
  z.string().regex(new RegExp(`^(0x)?[0-9a-fA-F]${bytes === undefined ? "+" : `{${2 * bytes}}`}$`));
const scryptParameters = z.object({
  n: z
    .int()
    .min(2)
    .max(2 ** 20),
  r: z.int().min(1).max(64),
  p: z.int().min(1).max(16),
  dklen: z.literal(32),
  salt: hexOf(),
});
const pbkdf2Parameters = z.object({
  c: z.int().min(1).max(10_000_000),
  prf: z.literal("hmac-sha256"),
  dklen: z.literal(32),
  salt: hexOf(),
});
const schema = z.object({
  version: z.literal(3),
  crypto: z.intersection(
    z.object({
      cipher: z.literal("aes-128-ctr"),
      ciphertext: hexOf(32),
      cipherparams: z.object({ iv: hexOf(16) }),
      mac: hexOf(32),
    }),
    z.discriminatedUnion("kdf", [
      z.object({ kdf: z.literal("scrypt"), kdfparams: scryptParameters }),
      z.object({ kdf: z.literal("pbkdf2"), kdfparams: pbkdf2Parameters }),
    ]),
  ),
});
type Kdf = z.infer<typeof schema>["crypto"];

/** Cost of a new file: 2^17 · 8 · 128 bytes = 128 MiB and about half a second. */
const SCRYPT = { n: 2 ** 17, r: 8, p: 1, dklen: 32 } as const;

/** @param key 32 bytes @returns JSON text */
export function encryptKeystore(key: Hex, password: string, n: number = SCRYPT.n): string {
  const salt = randomBytes(32);
  const iv = randomBytes(16);
  const kdfparams = { ...SCRYPT, n, salt: salt.toString("hex") };
  const derived = deriveKey({ kdf: "scrypt", kdfparams } as Kdf, password);
  const cipher = createCipheriv("aes-128-ctr", derived.subarray(0, 16), iv);
  const ciphertext = Buffer.concat([cipher.update(fromHex(key)), cipher.final()]);
  const file = {
    version: 3,
    id: randomUUID(),
    address: privateKeyToAddress(key).slice(2).toLowerCase(),
    crypto: {
      cipher: "aes-128-ctr",
      ciphertext: ciphertext.toString("hex"),
      cipherparams: { iv: iv.toString("hex") },
      kdf: "scrypt",
      kdfparams,
      mac: macOf(derived, ciphertext).toString("hex"),
    },
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** @param text the file @param name of the file, for errors
 *  @returns the private key, 32 bytes
 *  @throws BaseError KEYSTORE_INVALID, KEYSTORE_UNSUPPORTED, KEYSTORE_PASSWORD_WRONG */
export function decryptKeystore(text: string, password: string, name: string): Hex {
  const { crypto } = parseKeystore(text, name);
  requireComputable(crypto, name);
  const derived = deriveKey(crypto, password);
  const ciphertext = fromHex(crypto.ciphertext);
  if (!timingSafeEqual(macOf(derived, ciphertext), fromHex(crypto.mac))) {
    throw new BaseError({
      code: "KEYSTORE_PASSWORD_WRONG",
      shortMessage: `The password does not open the keystore ${name}.`,
      nextStep: "Check the file that ASSAY_KEYSTORE_PASSWORD_FILE names: its first line is the password.",
    });
  }
  const decipher = createDecipheriv("aes-128-ctr", derived.subarray(0, 16), fromHex(crypto.cipherparams.iv));
  return `0x${Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("hex")}`;
}

function parseKeystore(text: string, name: string) {
  let cause: unknown;
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    if (parsed.success) return parsed.data;
    cause = parsed.error;
  } catch (error) {
    cause = error;
  }
  throw new BaseError({
    code: "KEYSTORE_INVALID",
    shortMessage: `${name} is no keystore of version 3 with scrypt or pbkdf2 and aes-128-ctr.`,
    nextStep: "Make one with `assay key new` or `assay key import`.",
    cause,
  });
}

/** OpenSSL takes scrypt's n below 2^(16 r) only, as RFC 7914 has it; some old files have more. */
function requireComputable({ kdf, kdfparams }: Kdf, name: string): void {
  if (kdf !== "scrypt" || Math.log2(kdfparams.n) < 16 * kdfparams.r) return;
  throw new BaseError({
    code: "KEYSTORE_UNSUPPORTED",
    shortMessage: `${name} has scrypt with n = ${kdfparams.n} and r = ${kdfparams.r}; n must be below 2^${16 * kdfparams.r}.`,
    nextStep: "Decrypt it with the program that made it, and import the key by `assay key import`.",
  });
}

function deriveKey(crypto: Pick<Kdf, "kdf" | "kdfparams"> | Kdf, password: string): Buffer {
  const { kdf, kdfparams } = crypto as Kdf;
  const salt = fromHex(kdfparams.salt);
  if (kdf === "pbkdf2") return pbkdf2Sync(password, salt, kdfparams.c, kdfparams.dklen, "sha256");
  const { n, r, p, dklen } = kdfparams;
  return scryptSync(password, salt, dklen, { N: n, r, p, maxmem: 129 * n * r + 2 ** 20 });
}

/** keccak256 of the second half of the derived key and the ciphertext. */
function macOf(derived: Buffer, ciphertext: Uint8Array): Buffer {
  return Buffer.from(keccak256(Buffer.concat([derived.subarray(16, 32), ciphertext]), "bytes"));
}

const fromHex = (text: string): Buffer => Buffer.from(text.replace(/^0x/, ""), "hex");
