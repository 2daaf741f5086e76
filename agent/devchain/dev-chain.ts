/** A development chain on which a language model stands behind a precompile: one transaction a block, at once.
 *
 *  Blocks are executed by EthereumJS. A block that asked the model keeps the answers (tape.ts), so anybody who has it
 *  executes it again to the same state without a model, which a chain that is opened from its file does. */
import {
  type Block,
  createBlock,
  createBlockFromRLP,
  genTransactionsTrieRoot,
  type HeaderData,
} from "@ethereumjs/block";
import { createTxFromRLP, type TypedTransaction } from "@ethereumjs/tx";
import { type Address as AddressBytes, createAddressFromString } from "@ethereumjs/util";
import { createVM, type RunTxResult, runBlock, type VM } from "@ethereumjs/vm";
import type { Address, Hex } from "viem";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { BlockFile, KeptBlock } from "./block-file.ts";
import { BLOCK_GAS, createGenesis, rulesOf } from "./genesis.ts";
import { PRECOMPILE, runPrecompile } from "./precompile.ts";
import { type Ask, answersHash, askOnce, replay, Tape } from "./tape.ts";

export interface DevChainOptions {
  readonly chainId: number;
  /** accounts with ether */
  readonly accounts: readonly Address[];
  /** the model; never throws */
  readonly ask: Ask;
  /** where blocks are kept; absent: they are not */
  readonly file?: BlockFile;
  readonly nowSeconds: () => number;
}

/** A block, and what its one transaction did; the first block has none. */
export interface MinedBlock {
  readonly block: Block;
  readonly transaction?: TypedTransaction;
  readonly result?: RunTxResult;
}

export interface CallRequest {
  readonly from?: Address | undefined;
  readonly to?: Address | undefined;
  readonly data?: Hex | undefined;
  readonly value?: bigint | undefined;
  /** most gas of the call; default: a block's */
  readonly gas?: bigint | undefined;
}

export interface CallResult {
  readonly ok: boolean;
  /** returned, or the revert's */
  readonly data: Uint8Array;
  readonly gasUsed: bigint;
  /** EthereumJS's word for a failure: "revert", "out of gas" */
  readonly error?: string;
}

export class DevChain {
  readonly #vm: VM;
  readonly #ask: Ask;
  readonly #file: BlockFile | undefined;
  readonly #nowSeconds: () => number;
  readonly #blocks: MinedBlock[];
  readonly #precompile: { tape: Tape };
  /** One execution at a time: they share the precompile's tape. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(vm: VM, genesis: Block, precompile: { tape: Tape }, options: DevChainOptions) {
    this.#vm = vm;
    this.#precompile = precompile;
    this.#blocks = [{ block: genesis }];
    this.#ask = askOnce(options.ask);
    this.#file = options.file;
    this.#nowSeconds = options.nowSeconds;
  }

  /** Opens a chain, and executes again what its file holds.
   *  @throws BaseError BLOCK_DIVERGED, and as BlockFile.open does */
  static async open(options: DevChainOptions): Promise<DevChain> {
    const precompile = { tape: new Tape(options.ask) };
    const customPrecompiles = [
      {
        address: PRECOMPILE,
        function: (input: { data: Uint8Array; gasLimit: bigint }) =>
          runPrecompile(input, (question) => precompile.tape.answer(question)),
      },
    ] as const;
    const vm = await createVM({
      common: rulesOf(options.chainId),
      evmOpts: { customPrecompiles: [...customPrecompiles] },
    });
    const genesis = await createGenesis(vm, options.accounts);
    const chain = new DevChain(vm, genesis, precompile, options);
    for (const kept of options.file?.open(toHex(genesis.hash())) ?? []) await chain.#executeAgain(kept);
    return chain;
  }

  get chainId(): bigint {
    return this.#vm.common.chainId();
  }

  get head(): MinedBlock {
    return this.#blocks.at(-1) as MinedBlock;
  }

  /** By number, from 0. */
  get blocks(): readonly MinedBlock[] {
    return this.#blocks;
  }

  /** The block of a transaction. @param hash in small letters */
  blockWith(hash: Hex): MinedBlock | undefined {
    return this.#blocks.find(
      ({ transaction }) => transaction !== undefined && toHex(transaction.hash()) === hash,
    );
  }

  /** Mines a signed transaction, in a block of its own. One that was mined before gives its block: clients whose
   *  patience a model has tried send again.
   *  @param raw its bytes @throws BaseError TRANSACTION_REFUSED; a transaction that reverts is mined */
  mine(raw: Uint8Array): Promise<MinedBlock> {
    return this.#alone(async () => {
      const transaction = this.#read(raw);
      const before = this.blockWith(toHex(transaction.hash()));
      if (before !== undefined) return before;
      const transactionsTrie = await genTransactionsTrieRoot([transaction]);
      const block = this.#nextBlock({ transactionsTrie }, [transaction]);
      const tape = new Tape(this.#ask);
      this.#precompile.tape = tape;
      // From the head's state, whatever became of the execution before.
      const root = this.head.block.header.stateRoot;
      const options = { block, root, generate: true, skipHeaderValidation: true };
      const executed = await runBlock(this.#vm, options).catch((cause: unknown) => {
        throw refused(cause instanceof Error ? cause.message : String(cause), cause);
      });
      const { stateRoot, receiptsRoot: receiptTrie, gasUsed, logsBloom, results } = executed;
      const header = {
        ...block.header,
        ...{ stateRoot, receiptTrie, gasUsed, logsBloom, extraData: answersHash(tape.recorded) },
      };
      const sealed = createBlock(
        { header, transactions: [transaction], withdrawals: [] },
        { common: this.#vm.common },
      );
      this.#file?.append({ block: sealed.serialize(), answers: tape.recorded });
      return this.#push({ block: sealed, transaction, result: results[0] as RunTxResult });
    });
  }

  /** Executes a call on the state after a block, and keeps nothing of it but the model's answers. */
  call(request: CallRequest, at: MinedBlock = this.head): Promise<CallResult> {
    return this.#alone(async () => {
      this.#precompile.tape = new Tape(this.#ask);
      const { evm } = await this.#stateAt(at);
      const caller = addressOf(request.from ?? `0x${"00".repeat(20)}`);
      const { execResult } = await evm.runCall({
        block: this.#nextBlock(),
        caller,
        origin: caller,
        gasLimit: request.gas ?? BLOCK_GAS,
        value: request.value ?? 0n,
        data: fromHex(request.data ?? "0x"),
        skipBalance: request.from === undefined,
        ...(request.to === undefined ? {} : { to: addressOf(request.to) }),
      });
      const { exceptionError, returnValue: data, executionGasUsed: gasUsed } = execResult;
      const error = exceptionError === undefined ? {} : { error: exceptionError.error };
      return { ok: exceptionError === undefined, data, gasUsed, ...error };
    });
  }

  /** State after a block, to read. */
  async stateOf(at: MinedBlock = this.head): Promise<VM["stateManager"]> {
    return this.#alone(async () => (await this.#stateAt(at)).stateManager);
  }

  #alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #stateAt({ block }: MinedBlock): Promise<VM> {
    const copy = await this.#vm.shallowCopy();
    await copy.stateManager.setStateRoot(block.header.stateRoot);
    return copy;
  }

  #read(raw: Uint8Array): TypedTransaction {
    try {
      const transaction = createTxFromRLP(raw, { common: this.#vm.common });
      const problems = transaction.getValidationErrors();
      if (problems.length === 0 && transaction.isSigned()) return transaction;
      throw refused(problems.join("; ") || "it is not signed");
    } catch (cause) {
      if (cause instanceof BaseError) throw cause;
      throw refused(cause instanceof Error ? cause.message : String(cause), cause);
    }
  }

  #nextBlock(fields: HeaderData = {}, transactions: TypedTransaction[] = []): Block {
    const { header: parent } = this.head.block;
    const now = BigInt(this.#nowSeconds());
    const header = {
      ...fields,
      parentHash: parent.hash(),
      number: parent.number + 1n,
      timestamp: now > parent.timestamp ? now : parent.timestamp + 1n,
      gasLimit: BLOCK_GAS,
      baseFeePerGas: parent.calcNextBaseFee(),
    };
    return createBlock({ header, transactions, withdrawals: [] }, { common: this.#vm.common });
  }

  async #executeAgain({ block: bytes, answers }: KeptBlock): Promise<void> {
    const block = createBlockFromRLP(bytes, { common: this.#vm.common });
    const { number } = block.header;
    const isNext = toHex(block.header.parentHash) === toHex(this.head.block.hash());
    if (!isNext || toHex(block.header.extraData) !== toHex(answersHash(answers))) {
      throw diverged(number, "it does not follow the block before it, or its answers were changed");
    }
    this.#precompile.tape = new Tape(replay(answers));
    const { results } = await runBlock(this.#vm, { block, skipHeaderValidation: true }).catch(
      (cause: unknown) => {
        throw diverged(number, cause instanceof Error ? cause.message : String(cause), cause);
      },
    );
    const [transaction] = block.transactions;
    this.#push({ block, transaction: transaction as TypedTransaction, result: results[0] as RunTxResult });
  }

  #push(mined: MinedBlock): MinedBlock {
    this.#blocks.push(mined);
    return mined;
  }
}

const addressOf = (address: Address): AddressBytes => createAddressFromString(address.toLowerCase());

const refused = (why: string, cause?: unknown): BaseError =>
  new BaseError({
    code: "TRANSACTION_REFUSED",
    shortMessage: `The transaction is not mined: ${why}.`,
    nextStep: "Check its nonce, its fee, its gas and the sender's balance.",
    cause,
  });

const diverged = (number: bigint, why: string, cause?: unknown): BaseError =>
  new BaseError({
    code: "BLOCK_DIVERGED",
    shortMessage: `Block ${number} does not lead to the state that it names: ${why}.`,
    nextStep: "The chain's file was changed, or written by another version; begin with a new one.",
    cause,
  });
