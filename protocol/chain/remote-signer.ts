/** An account whose key is elsewhere: a signer that speaks JSON-RPC (`eth_signTransaction`), such as Web3Signer, clef or
 *  a node. It is asked to sign and trusted with nothing else: what it returns is compared with what was asked. */
import {
  type Address,
  type Hex,
  isHex,
  type LocalAccount,
  numberToHex,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerializable,
  type TransactionSerializableEIP1559,
} from "viem";
import { toAccount } from "viem/accounts";
import { BaseError } from "../../base/errors.ts";

export interface RemoteSigner {
  /** may hold a secret: it is never logged */
  readonly url: string;
  readonly address: Address;
  /** of one question; default 10,000 */
  readonly timeoutMs?: number;
}

/** Fields that make up an EIP-1559 transaction of ours. */
const FIELDS = [
  "chainId",
  "nonce",
  "to",
  "value",
  "data",
  "gas",
  "maxFeePerGas",
  "maxPriorityFeePerGas",
] as const;
type Asked = Pick<TransactionSerializableEIP1559, (typeof FIELDS)[number]>;

/** @returns an account whose signTransaction throws BaseError SIGNER_UNREACHABLE (retryable), SIGNER_REFUSED and
 *  SIGNER_ANSWER_WRONG; it signs nothing but EIP-1559 transactions */
export function remoteAccount(signer: RemoteSigner): LocalAccount {
  const signTransaction = async (transaction: TransactionSerializable): Promise<Hex> => {
    if (transaction.type !== "eip1559") throw unsupported(`a transaction of type ${transaction.type}`);
    const raw = rawOf(await ask(signer, "eth_signTransaction", [callOf(signer.address, transaction)]));
    await compare(signer.address, transaction, raw);
    return raw;
  };
  return toAccount({
    address: signer.address,
    // The serializer that viem could pass is of chains with forms of their own.
    signTransaction: (transaction) => signTransaction(transaction as TransactionSerializable),
    signMessage: () => Promise.reject(unsupported("a message")),
    signTypedData: () => Promise.reject(unsupported("typed data")),
  });
}

/** Whether the signer names the key among those that it holds (`eth_accounts`).
 *  @throws BaseError SIGNER_UNREACHABLE, SIGNER_REFUSED: it may sign all the same */
export async function holdsKey(signer: RemoteSigner): Promise<boolean> {
  const held = await ask(signer, "eth_accounts", []);
  const own = signer.address.toLowerCase();
  return Array.isArray(held) && held.some((address) => String(address).toLowerCase() === own);
}

const quantity = (value: bigint | number | undefined): Hex => numberToHex(value ?? 0);

const callOf = (from: Address, asked: Asked) => ({
  from,
  type: "0x2",
  chainId: quantity(asked.chainId),
  nonce: quantity(asked.nonce),
  to: asked.to,
  value: quantity(asked.value),
  // Signers read one name or the other.
  data: asked.data ?? "0x",
  input: asked.data ?? "0x",
  gas: quantity(asked.gas),
  maxFeePerGas: quantity(asked.maxFeePerGas),
  maxPriorityFeePerGas: quantity(asked.maxPriorityFeePerGas),
});

/** Web3Signer and anvil answer the bytes, geth and clef an object that holds them. */
function rawOf(answer: unknown): Hex {
  const raw = typeof answer === "object" && answer !== null && "raw" in answer ? answer.raw : answer;
  if (isHex(raw)) return raw;
  throw wrong("it is no transaction");
}

/** INVARIANT: nothing is journalled or sent that was not asked for: a signer that is taken over can refuse, no more. */
async function compare(address: Address, asked: Asked, raw: Hex): Promise<void> {
  let signed: ReturnType<typeof parseTransaction>;
  let from: Address;
  try {
    signed = parseTransaction(raw);
    from = await recoverTransactionAddress({ serializedTransaction: raw as never });
  } catch (cause) {
    throw wrong("it is no signed transaction", cause);
  }
  if (signed.type !== "eip1559") throw wrong(`its type is ${signed.type}`);
  if ((signed.accessList ?? []).length > 0) throw wrong("it has an access list");
  if (from !== address) throw wrong(`it is signed by ${from}`);
  for (const name of FIELDS) {
    const [was, is] = [plain(asked[name]), plain(signed[name])];
    if (was !== is) throw wrong(`its ${name} is ${is.slice(0, 80)}, asked was ${was.slice(0, 80)}`);
  }
}

/** Absent, zero and empty are the same in a transaction; hexadecimal has no case. */
function plain(value: string | number | bigint | null | undefined): string {
  const text = String(value ?? "").toLowerCase();
  return text === "0" || text === "0x" ? "" : text;
}

/** One JSON-RPC call. */
async function ask(
  { url, timeoutMs = 10_000 }: RemoteSigner,
  method: string,
  params: unknown,
): Promise<unknown> {
  const { host } = new URL(url);
  let answer: { result?: unknown; error?: { message?: unknown } };
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    answer = (await response.json()) as typeof answer;
  } catch (error) {
    const { name, cause } = error as { name?: string; cause?: { code?: string } };
    throw new BaseError({
      code: "SIGNER_UNREACHABLE",
      shortMessage: `The signer at ${host} did not answer: ${cause?.code ?? name}.`,
      nextStep: "Start it, or correct --signer (ASSAY_SIGNER).",
      retryable: true,
    });
  }
  if (answer?.error === undefined && answer?.result !== undefined) return answer.result;
  throw new BaseError({
    code: "SIGNER_REFUSED",
    shortMessage: `The signer at ${host} refuses: ${String(answer?.error?.message ?? "it gave no result").slice(0, 200)}.`,
    nextStep: "Look at its rules, and whether it holds the key of --signer-address (ASSAY_SIGNER_ADDRESS).",
    retryable: true,
  });
}

const wrong = (why: string, cause?: unknown): BaseError =>
  new BaseError({
    code: "SIGNER_ANSWER_WRONG",
    shortMessage: `The signer returned another transaction than was asked for: ${why}. It was not sent.`,
    nextStep: "Check the signer: it may be broken, or in somebody else's hands.",
    cause,
  });

const unsupported = (what: string): BaseError =>
  new BaseError({
    code: "SIGNER_UNSUPPORTED",
    shortMessage: `A remote signer signs EIP-1559 transactions, not ${what}.`,
    nextStep: "Use a keystore for this.",
  });
