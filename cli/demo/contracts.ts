/** Sends the transactions of one account, for demos on a local chain. */
import {
  type Abi,
  type Address,
  BaseError as BaseViemError,
  ContractFunctionRevertedError,
  createWalletClient,
  decodeErrorResult,
  getContractAddress,
  type Hex,
  http,
  isHex,
  type LocalAccount,
  size,
  type TransactionReceipt,
} from "viem";
import { BaseError } from "../../base/errors.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import type { Artifact } from "../../protocol/chain/deploy/parts.ts";
import { loadArtifact } from "../artifacts.ts";

export class ContractSender {
  readonly #chain: Chain;
  readonly #artifactOf: (name: string, file?: string) => Artifact;
  readonly account: LocalAccount;

  constructor(chain: Chain, account: LocalAccount, artifactOf = loadArtifact) {
    this.#chain = chain;
    this.account = account;
    this.#artifactOf = artifactOf;
  }

  /** @param file the Solidity file, if it is not named after the contract */
  async deploy(name: string, args: readonly unknown[], file?: string): Promise<Address> {
    const { abi, bytecode } = this.#artifactOf(name, file);
    const hash = await this.#wallet().deployContract({ abi: abi as Abi, bytecode, args, chain: null });
    const { contractAddress } = await this.#mined(hash, `deploy ${name}`);
    return contractAddress as Address;
  }

  async call(
    to: Address,
    name: string,
    functionName: string,
    args: readonly unknown[],
  ): Promise<TransactionReceipt> {
    const { abi } = this.#artifactOf(name);
    // A simulation first: it gives the reason of a revert.
    await this.#chain.client.simulateContract({
      address: to,
      abi: abi as Abi,
      functionName,
      args,
      account: this.account,
    });
    const hash = await this.#wallet().writeContract({
      address: to,
      abi: abi as Abi,
      functionName,
      args,
      chain: null,
    });
    return this.#mined(hash, `${name}.${functionName}`);
  }

  /** Where this account's contract number `ahead`, counted from the next as 0, will be. */
  async addressAhead(ahead: number): Promise<Address> {
    const nonce = await this.#chain.client.getTransactionCount({ address: this.account.address });
    return getContractAddress({ from: this.account.address, nonce: BigInt(nonce + ahead) });
  }

  #wallet() {
    return createWalletClient({
      account: this.account,
      transport: http(this.#chain.client.transport.url as string),
    });
  }

  async #mined(hash: Hex, what: string): Promise<TransactionReceipt> {
    const receipt = await this.#chain.client.waitForTransactionReceipt({ hash, pollingInterval: 50 });
    if (receipt.status !== "success") {
      throw new BaseError({
        code: "TRANSACTION_REVERTED",
        shortMessage: `${what} was reverted in transaction ${hash}.`,
        nextStep: "Simulate it to see the reason.",
      });
    }
    return receipt;
  }
}

/** Why a call was reverted, in the words of these contracts' errors; an error within an error is opened as well.
 *  @throws whatever is no revert */
export function revertReason(error: unknown, contracts: readonly string[]): string {
  const found =
    error instanceof BaseViemError
      ? error.walk((cause) => cause instanceof ContractFunctionRevertedError)
      : null;
  const data = (found as ContractFunctionRevertedError | null)?.raw;
  if (data === undefined) throw error;
  return reasonOf(
    data,
    contracts.flatMap((name) => [...loadArtifact(name).abi]),
  );
}

function reasonOf(data: Hex, abi: Abi): string {
  try {
    const { errorName, args = [] } = decodeErrorResult({ abi, data });
    const shown = args.map((value) =>
      isHex(value) && size(value) > 20 ? reasonOf(value, abi) : String(value),
    );
    return `${errorName}(${shown.join(", ")})`;
  } catch {
    return data;
  }
}
