/** Arrays by element of a step's tensor of which steps of one form have the same. */

type Elements = Uint8Array | Uint16Array | Uint32Array;

/** Bytes that are held for the steps to come. */
const MOST_BYTES = 2 ** 27;

/** Equal arrays are one array with one number, and what is made for a key is made once, up to MOST_BYTES; what is beyond
 *  is as right, and made each time anew. */
export class Interned<T extends Elements> {
  readonly #made = new Map<string, T | undefined>();
  readonly #byHash = new Map<number, T[]>();
  readonly #held = new Set<T>();
  readonly #ids = new WeakMap<T, number>();
  #next = 1;
  #room: number;

  constructor(most = MOST_BYTES) {
    this.#room = most;
  }

  /** @param key names all that `make` depends on */
  get(key: string, make: () => T | undefined): T | undefined {
    if (this.#made.has(key)) return this.#made.get(key);
    const array = make();
    const one = array && this.one(array);
    if (one === undefined || this.#held.has(one)) this.#made.set(key, one);
    return one;
  }

  /** The array that was seen first of those that are equal to this one. */
  one(array: T): T {
    const hash = hashOf(array);
    const alike = this.#byHash.get(hash) ?? [];
    const found = alike.find((other) => isEqual(other, array));
    if (found !== undefined) return found;
    if (this.#room < array.byteLength) return array;
    this.#room -= array.byteLength;
    this.#byHash.set(hash, [...alike, array]);
    this.#held.add(array);
    return array;
  }

  /** No other array has it; 0 for undefined. */
  id(array: T | undefined): number {
    if (array === undefined) return 0;
    const known = this.#ids.get(array);
    if (known !== undefined) return known;
    this.#ids.set(array, this.#next);
    return this.#next++;
  }
}

/** FNV-1a, by elements. */
function hashOf(array: Elements): number {
  let hash = 0x811c9dc5 ^ array.length;
  for (let i = 0; i < array.length; i++) hash = Math.imul(hash ^ (array[i] as number), 0x01000193);
  return hash;
}

function isEqual(one: Elements, other: Elements): boolean {
  if (one.length !== other.length || one.BYTES_PER_ELEMENT !== other.BYTES_PER_ELEMENT) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return false;
  return true;
}
