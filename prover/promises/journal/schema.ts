/** The journal of signed claims: its file, whose it is, and its rows. */
import { fileURLToPath } from "node:url";
import type { Address, Hex } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { BaseError } from "../../../base/errors.ts";
import type { PromisesAddress, SignedClaim } from "../../../protocol/rules/promises/signed-claim.ts";
import type { ModelId } from "../../../protocol/rules/types.ts";
import type { SchemaPart, SqliteDatabase } from "../../../protocol/service/journal/database.ts";

export const SIGNED_SCHEMA: SchemaPart = {
  name: "signed",
  folder: fileURLToPath(new URL(".", import.meta.url)),
};
export const SIGNED_FILE = "signed-claims.sqlite";

/** Whose journal it is: one prover's in one Promises on one chain. */
export interface SignerOwner extends PromisesAddress {
  readonly prover: Address;
  /** of the deployment: tells a local chain from its successor */
  readonly blockHash: Hex;
}

/** @throws BaseError JOURNAL_OWNER_MISMATCH */
export function requireSigner(
  db: SqliteDatabase,
  { chainId, promises, prover, blockHash }: SignerOwner,
): void {
  db.prepare("INSERT OR IGNORE INTO signer VALUES (1, ?, ?, ?, ?)").run(
    chainId,
    ...[promises, prover, blockHash].map((hex) => fromHex(hex)),
  );
  const held = db.prepare<[], OwnerRow>("SELECT * FROM signer").get() as OwnerRow;
  const found = [held.chain_id, ...[held.promises, held.prover, held.block_hash].map(toHex)].join(" ");
  const wanted = [chainId, ...[promises, prover, blockHash].map((hex) => hex.toLowerCase())].join(" ");
  if (found === wanted) return;
  throw new BaseError({
    code: "JOURNAL_OWNER_MISMATCH",
    shortMessage: `The journal of signed claims was used with chain, Promises, prover and block ${found}, now they are ${wanted}.`,
    nextStep: "Use one data folder for each key and deployment (--data, ASSAY_DATA).",
    details: { file: db.name },
  });
}

interface OwnerRow {
  chain_id: number;
  promises: Buffer;
  prover: Buffer;
  block_hash: Buffer;
}

export interface SignedRow {
  id: number;
  digest: Buffer;
  model_id: Buffer;
  requester: Buffer;
  issued_at: number;
  expiry: number;
  min_bond: string;
  salt: string;
  signature: Buffer;
  input: Buffer;
  output: Buffer;
  payload: Buffer | null;
  batch: Buffer | null;
  leaf: number | null;
}

/** @param hash of bytes */
export const claimOf = (prover: Address, row: SignedRow, hash: (bytes: Uint8Array) => Hex): SignedClaim => ({
  prover,
  modelId: toHex(row.model_id) as ModelId,
  inputHash: hash(row.input),
  outputHash: hash(row.output),
  requester: toHex(row.requester),
  issuedAt: row.issued_at,
  expiry: row.expiry,
  minBond: BigInt(row.min_bond),
  salt: BigInt(row.salt),
});
