/** What a chain asks for the bytes of a transaction beside its gas. Rollups post them to another chain: the OP stack
 *  takes a fee of its own for that, Arbitrum takes it as gas, which estimates of its nodes hold and tables do not. */
import { bytesToHex, type Hex, keccak256, type PublicClient, parseAbi, toHex } from "viem";
import { BaseError } from "../../base/errors.ts";
import { MAX_AMOUNT } from "../rules/money.ts";

export const DATA_FEE_KINDS = ["none", "op-stack", "arbitrum"] as const;
export type DataFeeKind = (typeof DATA_FEE_KINDS)[number];

/** Predeploy of the OP stack. Source: its specification, GasPriceOracle. */
export const GAS_PRICE_ORACLE = "0x420000000000000000000000000000000000000F";
/** Precompile of Arbitrum. Source: its documentation, ArbGasInfo. */
export const ARB_GAS_INFO = "0x000000000000000000000000000000000000006C";
/** The fee of an unsigned transaction in RLP, by the rules of whichever upgrade is active. */
const oracleAbi = parseAbi(["function getL1Fee(bytes) view returns (uint256)"]);
/** Wei of a transaction without calldata, wei of a byte of calldata, and four that are no data fee. */
const arbAbi = parseAbi([
  "function getPricesInWei() view returns (uint256, uint256, uint256, uint256, uint256, uint256)",
]);

/** An upper bound by the size of the calldata, wei: max(least, base + perByte · bytes). `base` may lie below 0. */
export interface DataFee {
  readonly kind: DataFeeKind;
  readonly least: bigint;
  readonly base: bigint;
  readonly perByte: bigint;
}

export const NO_DATA_FEE: DataFee = { kind: "none", least: 0n, base: 0n, perByte: 0n };

/** Data fee of transactions with calldata of these sizes, wei. @param sizes bytes */
export const dataFeeOf = ({ least, base, perByte }: DataFee, ...sizes: readonly number[]): bigint =>
  sizes.reduce((sum, bytes) => {
    const fee = base + perByte * BigInt(bytes);
    return sum + (fee > least ? fee : least);
  }, 0n);

/** An unsigned transaction of type 2 without its calldata: eight fields and their lengths, the value below 2^96. */
const ENVELOPE_BYTES = 120;
/** Of calldata. Below the second the least fee may hold, from there on the fee grows evenly. */
const SAMPLES = [0, 2_048, 4_096] as const;

/** Reads the data fee of now. */
export class DataFeeReader {
  readonly #client: PublicClient;
  readonly #setting: DataFeeKind | "auto";
  #kind: DataFeeKind | undefined;

  constructor(client: PublicClient, setting: DataFeeKind | "auto" = "auto") {
    this.#client = client;
    this.#setting = setting;
    this.#kind = setting === "auto" ? undefined : setting;
  }

  /** @throws BaseError DATA_FEE_UNREADABLE (retryable): never is a fee that could not be read taken for none */
  async read(): Promise<DataFee> {
    try {
      this.#kind ??= await detect(this.#client);
      switch (this.#kind) {
        case "none":
          return NO_DATA_FEE;
        case "op-stack":
          return await opStackFee(this.#client);
        case "arbitrum":
          return await arbitrumFee(this.#client);
      }
    } catch (cause) {
      throw unreadable(this.#kind ?? this.#setting, cause);
    }
  }
}

/** By the code at addresses that nobody but a chain itself fills. */
async function detect(client: PublicClient): Promise<DataFeeKind> {
  const [oracle, gasInfo] = await Promise.all([
    client.getCode({ address: GAS_PRICE_ORACLE }),
    client.getCode({ address: ARB_GAS_INFO }),
  ]);
  if (isCode(oracle) && isCode(gasInfo)) throw new Error("the chain has the contracts of both");
  if (isCode(oracle)) return "op-stack";
  return isCode(gasInfo) ? "arbitrum" : "none";
}

const isCode = (code: Hex | undefined): boolean => code !== undefined && code !== "0x";

/** Bytes that no compression makes fewer, none of them zero: whatever a move holds costs no more. */
function incompressible(length: number): Hex {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 32) {
    const block = keccak256(toHex(at), "bytes").map((byte) => byte || 1);
    bytes.set(block.subarray(0, Math.min(32, length - at)), at);
  }
  return bytesToHex(bytes);
}

async function opStackFee(client: PublicClient): Promise<DataFee> {
  const read = async (bytes: number): Promise<bigint> =>
    bounded(
      await client.readContract({
        address: GAS_PRICE_ORACLE,
        abi: oracleAbi,
        functionName: "getL1Fee",
        args: [incompressible(ENVELOPE_BYTES + bytes)],
      }),
    );
  const [first, middle, last] = SAMPLES;
  const [least, some, more] = await Promise.all([read(first), read(middle), read(last)]);
  if (least > some || some > more)
    throw new Error(`the fees of more bytes are less: ${least}, ${some}, ${more}`);
  const step = BigInt(last - middle);
  const perByte = (more - some + step - 1n) / step;
  return { kind: "op-stack", least, base: more - perByte * BigInt(last), perByte };
}

/** Arbitrum charges for the compressed bytes; these are those of bytes that do not compress. */
async function arbitrumFee(client: PublicClient): Promise<DataFee> {
  const [perTransaction, perByte] = await client.readContract({
    address: ARB_GAS_INFO,
    abi: arbAbi,
    functionName: "getPricesInWei",
  });
  return { kind: "arbitrum", least: 0n, base: bounded(perTransaction), perByte: bounded(perByte) };
}

/** @throws Error for what no fee can be: the contracts hold amounts in 96 bits */
function bounded(wei: bigint): bigint {
  if (wei <= MAX_AMOUNT) return wei;
  throw new Error(`a fee of ${wei} is beyond 96 bits`);
}

function unreadable(kind: string, cause: unknown): BaseError {
  const reason = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause);
  return new BaseError({
    code: "DATA_FEE_UNREADABLE",
    shortMessage: `The data fee of the chain (${kind}) could not be read: ${reason.slice(0, 200)}.`,
    nextStep:
      "See whether the node answers; on a chain without a data fee set --data-fee none (ASSAY_DATA_FEE).",
    cause,
    retryable: true,
  });
}
