import type { SharedMemory, WasmInstance } from "../wasm.ts";
import { copyElements } from "./copy.ts";
import type { ActivationRows, Products, ProductsOf, WeightRows } from "./products.ts";
import { BLOCK, type Call, INSTANTIATE, INSTANTIATE_SHARED, STRIDE } from "./simd-loops.ts";
import { MIDDLE } from "./simd-numbers.ts";

const PAGE = 65_536;
const above = (value: number, unit: number): number => unit * Math.ceil(value / unit);

type Calls = WasmInstance<Call>["calls"];

/** Memory in which products are computed. */
interface Place {
  /** Gives as many bytes. @throws RangeError where there is no memory */
  readonly take: (bytes: number) => { readonly buffer: ArrayBuffer; readonly calls: Calls };
  /** threads that use it, and which of them this is: the first one loads the weights */
  readonly threads: number;
  readonly thread: number;
}

/** Memory: for each thread the sums of each activation row, Σ a of each, the activation rows, a block's weight rows in 16
 *  bits, and one row of numbers as it comes; then, for all of them, starts and offsets of each block of weight rows, and
 *  the weights. Rows of a DOT weight tensor, which are read from memory once for each activation row that is alone, lie as
 *  they are read: eight bytes of each row of a block in turn. Others lie as they come, and what is read behind them is
 *  multiplied by 0 or summed for no row. */
class SimdProducts implements Products {
  readonly sums: Int32Array;
  readonly width: number;
  readonly #totals: Int32Array;
  readonly #corrections: Int32Array;
  readonly #activations: Uint8Array | Int16Array;
  readonly #weights: Uint8Array;
  /** where weight rows of a block are widened to */
  readonly #wideAt: number;
  /** High bytes of a row of numbers, and low ones; behind them, of what is multiplied as 0. */
  readonly #stored: Uint8Array;
  readonly #calls: Calls;
  readonly #shape: Pick<WeightRows, "groups" | "rows" | "k" | "layout" | "offsets" | "zero">;
  readonly #groupBytes: number;
  /** Element i of a weight row is its byte i ^ flip. */
  readonly #flip: number;
  /** elements of an activation row in memory */
  readonly #padded: number;

  constructor({ take, threads, thread }: Place, weights: WeightRows) {
    const { bytes, starts, groups, rows, k, layout, activations, together } = weights;
    const isWords = layout === "words";
    const Elements = activations === "numbers" ? Int16Array : Uint8Array;
    this.width = above(rows, BLOCK);
    this.#shape = weights;
    this.#padded = above(k, isWords || activations === "numbers" ? 32 : STRIDE);
    this.#groupBytes = isWords ? this.width * this.#padded : rows * k;
    this.#flip = isWords ? 31 : 0;
    const totalsIn = together * 4 * this.width;
    const activationsIn = above(totalsIn + 4 * together, 16);
    const wideIn = above(activationsIn + together * this.#padded * Elements.BYTES_PER_ELEMENT, 16);
    const storedIn = wideIn + 2 * BLOCK * this.#padded;
    const ofThread = storedIn + 2 * this.#padded;
    const correctionsAt = threads * ofThread;
    const weightsAt = correctionsAt + groups * 2 * 4 * this.width;
    const behind = BLOCK * this.#padded;
    const { buffer, calls } = take(weightsAt + groups * this.#groupBytes + behind);
    const own = thread * ofThread;
    this.sums = new Int32Array(buffer, own, together * this.width);
    this.#totals = new Int32Array(buffer, own + totalsIn, together);
    this.#wideAt = own + wideIn;
    this.#stored = new Uint8Array(buffer, own + storedIn, 2 * this.#padded);
    this.#stored.fill(MIDDLE >> 8, k, this.#padded);
    this.#activations = new Elements(buffer, own + activationsIn, together * this.#padded);
    this.#corrections = new Int32Array(buffer, correctionsAt, groups * 2 * this.width);
    this.#weights = new Uint8Array(buffer, weightsAt);
    this.#calls = calls;
    if (thread === 0) this.load(bytes, starts);
  }

  load(bytes: Uint8Array, starts: Int32Array): void {
    if (this.#shape.layout === "words") this.#interleave(bytes);
    else this.#weights.set(bytes);
    const { groups, rows, k, offsets, zero } = this.#shape;
    const isNumbers = this.#activations instanceof Int16Array;
    // Of each weight row the sum counts, by what a stored activation is above the one that is meant or multiplied.
    const factor = isNumbers ? MIDDLE : -zero;
    for (let group = 0; group < groups; group++) {
      const [first, corrections] = [group * rows, 2 * group * this.width];
      if (factor !== 0) {
        this.#corrections.fill(0, corrections, corrections + 2 * this.width);
        for (let i = 0; i < k; i++) this.#activations[i ^ this.#flip] = 1;
        this.#multiply(1, group);
      }
      for (let row = 0; row < rows; row++) {
        const inBlock = row % BLOCK;
        const at = corrections + 2 * (row - inBlock) + inBlock;
        const offset = offsets[first + row] as number;
        const moved = factor === 0 ? 0 : factor * (this.sums[row] as number) + k * zero * offset;
        this.#corrections[at] = (starts[first + row] as number) + moved;
        this.#corrections[at + BLOCK] = offset;
      }
    }
  }

  /** @param words of a DOT weight tensor */
  #interleave(words: Uint8Array): void {
    const { groups, rows } = this.#shape;
    const isAligned = words.byteOffset % 4 === 0;
    const from = isAligned ? new Int32Array(words.buffer, words.byteOffset, words.length / 4) : toInts(words);
    const to = new Int32Array(this.#weights.buffer, this.#weights.byteOffset);
    const ints = this.#padded / 4;
    let read = 0;
    for (let group = 0; group < groups; group++) {
      for (let row = 0; row < rows; row++) {
        const block = (group * this.#groupBytes) / 4 + Math.floor(row / BLOCK) * BLOCK * ints;
        let at = block + 2 * (row % BLOCK);
        for (let i = 0; i < ints; i += 2, at += 2 * BLOCK) {
          to[at] = from[read + i] as number;
          to[at + 1] = from[read + i + 1] as number;
        }
        // Behind a row is its parameter word.
        read += ints + 8;
      }
    }
  }

  #multiply(count: number, group: number): void {
    const pairs = count - (count % 2);
    if (pairs > 0) this.#call("two", 0, pairs, group);
    if (pairs < count) this.#call("one", pairs, count, group);
  }

  /** Activation rows `from` to before `to`. */
  #call(call: "one" | "two", from: number, to: number, group: number): void {
    const { k, layout } = this.#shape;
    const activations = this.#activations;
    const bytes = this.#padded * activations.BYTES_PER_ELEMENT;
    const row = activations.byteOffset + from * bytes;
    const weights = this.#weights.byteOffset + group * this.#groupBytes;
    const sums = this.sums.byteOffset + from * 4 * this.width;
    this.#calls[call](
      ...[row, row + (to - from) * bytes, bytes, this.#totals.byteOffset + 4 * from],
      ...[weights, k, BLOCK * (layout === "words" ? this.#padded : k)],
      this.#corrections.byteOffset + group * 2 * 4 * this.width,
      ...[sums, sums + 4 * this.width, 4 * this.width],
      ...[this.#wideAt, this.#wideAt + 2 * BLOCK * this.#padded],
    );
  }

  compute({ bytes, first, stride, count }: ActivationRows, group: number): void {
    for (let row = 0; row < count; row++) this.#copy(row, bytes, first + row * stride);
    this.#multiply(count, group);
  }

  /** And its Σ a. */
  #copy(row: number, bytes: Uint8Array, from: number): void {
    const [to, k, flip] = [row * this.#padded, this.#shape.k, this.#flip];
    const activations = this.#activations;
    if (activations instanceof Int16Array) {
      this.#copyNumbers(row, bytes, from);
      return;
    }
    let total = 0;
    for (let i = 0; i < k; i++) {
      const a = bytes[from + i] as number;
      activations[to + (i ^ flip)] = a;
      total += a;
    }
    this.#totals[row] = total;
  }

  #copyNumbers(row: number, bytes: Uint8Array, from: number): void {
    const [padded, k, stored] = [this.#padded, this.#shape.k, this.#stored];
    copyElements(stored, 0, bytes, from, k);
    copyElements(stored, padded, bytes, from + k, k);
    const to = this.#activations.byteOffset + 2 * row * padded;
    this.#calls.numbers(
      ...[stored.byteOffset, stored.byteOffset + padded, to, to + 2 * padded],
      ...[MIDDLE * k, this.#totals.byteOffset + 4 * row],
    );
  }
}

const toInts = (bytes: Uint8Array): Int32Array => new Int32Array(new Uint8Array(bytes).buffer);

/** Products by WebAssembly's vectors; undefined where the engine lacks them.
 *  @throws RangeError where there is no memory for the weights */
export const simdProducts: ProductsOf | undefined =
  INSTANTIATE.bytes.words === undefined
    ? undefined
    : (weights) => {
        const instantiate = INSTANTIATE[weights.activations][weights.layout] as () => WasmInstance<Call>;
        const take = (bytes: number) => {
          const { memory, calls } = instantiate();
          memory.grow(Math.ceil(bytes / PAGE) - 1);
          return { buffer: memory.buffer, calls };
        };
        return new SimdProducts({ take, threads: 1, thread: 0 }, weights);
      };

/** Of a kernel of each thread, in one memory: which `memoryOf` makes, or knows, by its pages.
 *  @param thread 0 loads the weights; others have what it loaded
 *  @returns undefined where the engine lacks vectors or such memory */
export function sharedSimdProducts(
  memoryOf: (pages: number) => SharedMemory,
  threads: number,
  thread: number,
): ProductsOf | undefined {
  if (simdProducts === undefined || INSTANTIATE_SHARED.bytes === undefined) return undefined;
  return (weights) => {
    const instantiate = INSTANTIATE_SHARED[weights.activations] as (memory: SharedMemory) => Calls;
    const take = (bytes: number) => {
      const memory = memoryOf(Math.ceil(bytes / PAGE));
      // Typed arrays are made of it in the same way.
      return { buffer: memory.buffer as unknown as ArrayBuffer, calls: instantiate(memory) };
    };
    return new SimdProducts({ take, threads, thread }, weights);
  };
}
