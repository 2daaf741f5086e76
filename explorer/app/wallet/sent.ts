import type { Hex } from "viem";

/** A browser's localStorage. */
interface Keeper {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** Transactions that a wallet sent and that nobody saw mined yet, by their action: kept in the browser, so that a page
 *  that is loaded again waits for them instead of sending them twice. */
export class SentHashes {
  readonly #keeper: () => Keeper;
  readonly #prefix: string;

  /** @param keeper throws where a browser keeps nothing @param scope of one account on one deployment */
  constructor(keeper: () => Keeper, scope: string) {
    this.#keeper = keeper;
    this.#prefix = `assay-sent:${scope}:`;
  }

  get(key: string): Hex | undefined {
    const text = kept(() => this.#keeper().getItem(this.#prefix + key)) ?? "";
    // A wallet may answer anything, and nobody can wait for what is no hash.
    return /^0x[0-9a-fA-F]{64}$/.test(text) ? (text as Hex) : undefined;
  }
  set(key: string, hash: Hex): void {
    kept(() => this.#keeper().setItem(this.#prefix + key, hash));
  }
  delete(key: string): void {
    kept(() => this.#keeper().removeItem(this.#prefix + key));
  }
}

/** A browser that keeps nothing loses what was sent with the page. */
function kept<T>(access: () => T): T | undefined {
  try {
    return access();
  } catch {
    return undefined;
  }
}
