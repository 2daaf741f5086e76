/** The key that signs: from the environment, an encrypted file or a remote signer, never from flags, never logged. */
import { readFileSync } from "node:fs";
import { type Address, type Hex, isHex, type LocalAccount } from "viem";
import { privateKeyToAccount, privateKeyToAddress } from "viem/accounts";
import { BaseError } from "../../base/errors.ts";
import { decryptKeystore } from "./keystore.ts";
import { remoteAccount } from "./remote-signer.ts";

export interface AccountSources {
  /** URL of a JSON-RPC signer, which holds the key of signerAddress */
  readonly signer?: string | undefined;
  readonly signerAddress?: Address | undefined;
  readonly keystore?: string | undefined;
  readonly keystorePasswordFile?: string | undefined;
}

/** @param env ASSAY_KEY, 32 bytes as hex, wins over the signer, the signer over the keystore
 *  @returns undefined if no key is configured
 *  @throws BaseError KEY_INVALID, SIGNER_ADDRESS_MISSING, KEYSTORE_UNREADABLE, KEYSTORE_INVALID, KEYSTORE_PASSWORD_WRONG */
export function loadAccount(
  { signer, signerAddress, keystore, keystorePasswordFile }: AccountSources,
  env: Readonly<Record<string, string | undefined>>,
): LocalAccount | undefined {
  if (isSet(env.ASSAY_KEY) || signer === undefined) {
    const key = loadKey({ keystore, keystorePasswordFile }, env);
    return key && privateKeyToAccount(key);
  }
  if (signerAddress !== undefined) return remoteAccount({ url: signer, address: signerAddress });
  throw new BaseError({
    code: "SIGNER_ADDRESS_MISSING",
    shortMessage: "A signer is configured, and not whose key it is to use.",
    nextStep: "Set --signer-address (ASSAY_SIGNER_ADDRESS).",
  });
}

const isSet = (text: string | undefined): text is string => text !== undefined && text !== "";

/** The private key itself, for what signs in a thread of its own.
 *  @param env ASSAY_KEY, 32 bytes as hex, wins over the keystore
 *  @returns undefined if none is configured
 *  @throws BaseError KEY_INVALID, KEYSTORE_UNREADABLE, KEYSTORE_INVALID, KEYSTORE_PASSWORD_MISSING,
 *  KEYSTORE_PASSWORD_WRONG */
export function loadKey(
  { keystore, keystorePasswordFile }: Pick<AccountSources, "keystore" | "keystorePasswordFile">,
  env: Readonly<Record<string, string | undefined>>,
): Hex | undefined {
  if (isSet(env.ASSAY_KEY)) return keyOf(env.ASSAY_KEY, "ASSAY_KEY");
  if (keystore === undefined) return undefined;
  if (keystorePasswordFile === undefined) {
    throw new BaseError({
      code: "KEYSTORE_PASSWORD_MISSING",
      shortMessage: `The keystore ${keystore} has no password.`,
      nextStep: "Name a file that holds it: --keystore-password-file or ASSAY_KEYSTORE_PASSWORD_FILE.",
    });
  }
  const password = readSecret(keystorePasswordFile).split(/\r?\n/, 1)[0] ?? "";
  return keyOf(decryptKeystore(readSecret(keystore), password, keystore), keystore);
}

/** @param key 32 bytes as hex, 0x optional @param source where it comes from, for errors
 *  @throws BaseError KEY_INVALID; the message never holds the key */
export const accountOf = (key: string, source: string): LocalAccount =>
  privateKeyToAccount(keyOf(key, source));

/** @returns 32 bytes as hex; arguments and errors as accountOf */
export function keyOf(key: string, source: string): Hex {
  const trimmed = key.trim();
  const hex = trimmed.startsWith("0x") ? trimmed : `0x${trimmed}`;
  try {
    if (isHex(hex) && hex.length === 66) {
      privateKeyToAddress(hex);
      return hex;
    }
  } catch {
    // Zero, or not below the curve's order. The cause would show the key.
  }
  throw new BaseError({
    code: "KEY_INVALID",
    shortMessage: `The key from ${source} is no private key: 32 bytes as 64 hex digits, above zero and below the order of secp256k1.`,
    nextStep: "Make one with `assay key new`.",
  });
}

function readSecret(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new BaseError({
      code: "KEYSTORE_UNREADABLE",
      shortMessage: `Cannot read ${path}: ${(cause as NodeJS.ErrnoException).code ?? "unknown reason"}.`,
      nextStep:
        "Check --keystore (ASSAY_KEYSTORE) and --keystore-password-file (ASSAY_KEYSTORE_PASSWORD_FILE).",
      cause,
    });
  }
}
