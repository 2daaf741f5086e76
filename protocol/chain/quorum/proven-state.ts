/** The state of one block as an EVM reads it, taken from a node that is not trusted: whatever it gives has to lead to the
 *  block's state root. */
import { SimpleStateManager } from "@ethereumjs/statemanager";
import { type Account, type Address, createAccountFromRLP } from "@ethereumjs/util";
import { fromRlp, type Hex, keccak256 } from "viem";
import { fromHex, toHex } from "../../../base/bytes.ts";
import { Witness } from "../../rules/receipt/trie.ts";

/** A node's answers about the state of the block. */
export interface StateSource {
  /** nodes of the tries towards an account, and towards a word of its storage */
  proof(address: Hex, slot: Hex): Promise<readonly Hex[]>;
  code(address: Hex): Promise<Hex>;
}

/** Words and accounts that one call may read: what reads more is not decided by proofs. */
const MOST_PROOFS = 64;
const NOWHERE: Hex = `0x${"00".repeat(32)}`;

/** Reads throw where the node gives no proof, or none that holds: BaseError RECEIPT_UNPROVEN, RECEIPT_MALFORMED, RangeError
 *  above MOST_PROOFS, and as the source. What a call writes is forgotten with this. */
export class ProvenState extends SimpleStateManager {
  readonly #stateRoot: Hex;
  readonly #source: StateSource;
  readonly #accounts = new Map<string, Promise<Account | undefined>>();
  readonly #codes = new Map<string, Promise<Uint8Array>>();
  readonly #words = new Map<string, Promise<Uint8Array>>();
  #proofs = 0;

  constructor(stateRoot: Hex, source: StateSource) {
    super();
    this.#stateRoot = stateRoot;
    this.#source = source;
  }

  override async getAccount(address: Address): Promise<Account | undefined> {
    if (this.topAccountStack().has(address.toString())) return super.getAccount(address);
    return this.#accountAt(address);
  }

  override async getCode(address: Address): Promise<Uint8Array> {
    if (this.topCodeStack().has(address.toString())) return super.getCode(address);
    return remembered(this.#codes, address.toString(), async () => {
      const account = await this.#accountAt(address);
      if (account === undefined || !account.isContract()) return new Uint8Array(0);
      const code = await this.#source.code(address.toString());
      if (keccak256(code) !== toHex(account.codeHash))
        throw new RangeError(`the code of ${address} has another hash`);
      return fromHex(code);
    });
  }

  override async getStorage(address: Address, key: Uint8Array): Promise<Uint8Array> {
    const name = `${address}_${toHex(key)}`;
    if (this.topStorageStack().has(name)) return super.getStorage(address, key);
    return remembered(this.#words, name, async () => {
      const account = await this.#accountAt(address);
      if (account === undefined) return new Uint8Array(0);
      const witness = await this.#witness(address, toHex(key));
      const value = witness.read(toHex(account.storageRoot), keccak256(key));
      return value === undefined ? new Uint8Array(0) : fromHex(fromRlp(value) as Hex);
    });
  }

  #accountAt(address: Address): Promise<Account | undefined> {
    return remembered(this.#accounts, address.toString(), async () => {
      const witness = await this.#witness(address, NOWHERE);
      const rlp = witness.read(this.#stateRoot, keccak256(address.bytes));
      return rlp === undefined ? undefined : createAccountFromRLP(fromHex(rlp));
    });
  }

  async #witness(address: Address, slot: Hex): Promise<Witness> {
    this.#proofs += 1;
    if (this.#proofs > MOST_PROOFS)
      throw new RangeError(`the call reads more than ${MOST_PROOFS} words and accounts`);
    return new Witness(await this.#source.proof(address.toString(), slot));
  }
}

function remembered<Value>(
  known: Map<string, Promise<Value>>,
  name: string,
  make: () => Promise<Value>,
): Promise<Value> {
  const value = known.get(name) ?? make();
  known.set(name, value);
  return value;
}
