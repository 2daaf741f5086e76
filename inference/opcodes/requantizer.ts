import { viewOf } from "../../base/bytes.ts";
import type { TensorData } from "../program/form.ts";
import { orPlain } from "../wasm.ts";
import {
  CHUNK,
  type ChannelForm,
  type ChannelForms,
  channelTable,
  ENTRY,
  plainForms,
  type Span,
} from "./channel-forms.ts";
import { copyElements } from "./copy.ts";
import { wasmForms } from "./wasm-channel-forms.ts";

/** One for all requantizers: each memory of WebAssembly's reserves addresses by the gigabyte. */
const FORMS = orPlain(wasmForms, plainForms);

/** The parameter words of a weight tensor, and what they compute. Source: docs/EXACT.md, section 3, DOT, REQUANT and
 *  RESCALE. */
export class Requantizer {
  readonly #channels: number;
  /** of CHUNK channels each, the last one of what is left */
  readonly #tables: readonly Uint8Array[];
  readonly #forms: ChannelForms;

  /** @param words a weight tensor's words @param stride bytes from one channel's parameter word to the next
   *  @param first byte of the first one */
  constructor(words: Uint8Array, channels: number, first: number, stride: number, forms = FORMS) {
    const view = viewOf(words);
    this.#channels = channels;
    this.#forms = forms;
    this.#tables = Array.from({ length: Math.ceil(channels / CHUNK) }, (_, i) => {
      const before = i * CHUNK;
      return channelTable(view, first + before * stride, stride, Math.min(CHUNK, channels - before));
    });
  }

  /** What RESCALE makes of numbers: the low 32 bits of their shifted sums. */
  shiftedSums(out: Int32Array, to: number, numbers: Span): void {
    const { words } = this.#forms;
    this.#inParts("word", numbers, (at, count) => copyElements(out, to + at, words, 0, count));
  }

  /** What DOT rescaled makes of sums: their shifted sums, clamped to a number of bits. */
  limited(out: Int32Array, to: number, numbers: Span): void {
    const { words } = this.#forms;
    this.#inParts("limited", numbers, (at, count) => copyElements(out, to + at, words, 0, count));
  }

  /** Stored bytes by the integer form, or the binary32 form. */
  requantize(form: "integer" | "binary32", out: TensorData, to: number, numbers: Span): void {
    const { bytes } = this.#forms;
    this.#inParts(form, numbers, (at, count) => copyElements(out, to + at, bytes, 0, count));
  }

  /** High bytes of what RESCALE makes of numbers as numbers of 16 bits, and low ones `length` bytes behind them. */
  planes(out: TensorData, to: number, length: number, numbers: Span): void {
    const { bytes, lowBytes } = this.#forms;
    this.#inParts("planes", numbers, (at, count) => {
      copyElements(out, to + at, bytes, 0, count);
      copyElements(out, to + length + at, lowBytes, 0, count);
    });
  }

  /** @param store what is computed of `count` numbers of the span from number `at` on */
  #inParts(form: ChannelForm, { data, from, count, channel }: Span, store: Store): void {
    const tables = this.#tables;
    for (let at = 0, n = channel; at < count; ) {
      const inTable = n % CHUNK;
      const table = tables[(n - inTable) / CHUNK] as Uint8Array;
      // Where there are several tables, a part ends where its table does.
      const left = tables.length === 1 ? CHUNK : table.length / ENTRY - inTable;
      const part = Math.min(left, CHUNK, count - at);
      this.#forms.compute(form, table, { data, from: from + at, count: part, channel: inTable });
      store(at, part);
      at += part;
      n = (n + part) % this.#channels;
    }
  }
}

type Store = (at: number, count: number) => void;
