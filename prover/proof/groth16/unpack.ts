/** Ties tensors inside a circuit to the public signals that hold them. */

import type { Step } from "../../../inference/program/form.ts";
import {
  BINDING_BYTES,
  type PackedTensor,
  PIECE_BYTES,
} from "../../../protocol/rules/proof/public-signals.ts";
import { bit, bitsOf, maximum, minimum, signBits } from "./bits.ts";
import type { Circuit } from "./circuit.ts";
import { bitLength, constant, type Int, isConstant, not, number, shifted } from "./integer.ts";
import { evaluate, LinearSum, wireOf } from "./linear.ts";

/** Signal and power of two of a bit of an element's field. @param place bit of the field, 0 the lowest */
function locate(part: PackedTensor, element: number, place: number): { wire: number; exponent: bigint } {
  return locateByte(part, (element + 1) * part.fieldBytes - 1 - (place >> 3), place & 7);
}

/** @param byte of all that the signals of a part hold @param place bit of the byte */
function locateByte(part: PackedTensor, byte: number, place: number): { wire: number; exponent: bigint } {
  const piece = Math.floor(byte / PIECE_BYTES);
  const end = Math.min((piece + 1) * PIECE_BYTES, part.bytes);
  return { wire: 1 + part.first + piece, exponent: BigInt(8 * (end - 1 - byte) + place) };
}

/** Equations of the signals of one tensor, filled bit by bit. */
class Pieces {
  readonly #circuit: Circuit;
  readonly #part: PackedTensor;
  readonly #sums = new Map<number, LinearSum>();

  constructor(circuit: Circuit, part: PackedTensor) {
    this.#circuit = circuit;
    this.#part = part;
    const signals = Math.ceil((part.elements * part.fieldBytes) / PIECE_BYTES);
    for (let i = 0; i < signals; i++) this.#sums.set(1 + part.first + i, new LinearSum());
  }

  /** The binding behind the output. Its bits in a signal that holds output, too, are checked: else any number might
   *  stand for both. @returns the wires that hold it: these bits, and a signal that holds nothing else */
  putBinding(): number[] {
    const wires = new Set<number>();
    for (let byte = this.#part.bytes - BINDING_BYTES; byte < this.#part.bytes; byte++) {
      const { wire, exponent } = locateByte(this.#part, byte, 0);
      const sum = this.#sums.get(wire);
      if (sum === undefined) {
        wires.add(wire);
        continue;
      }
      const bits = this.#circuit.booleans(
        8,
        (values, first) => {
          const bits = (values[wire] as bigint) >> exponent;
          for (let i = 0; i < 8; i++) values[first + i] = (bits >> BigInt(i)) & 1n;
        },
        "the binding",
      );
      bits.forEach((bit, i) => {
        sum.addTerm(bit, 1n << (exponent + BigInt(i)));
        wires.add(bit);
      });
    }
    return [...wires];
  }

  /** @param value stands at the bits from `place` on of an element's field */
  put(element: number, place: number, value: Int): void {
    const { wire, exponent } = locate(this.#part, element, place);
    const linear = this.#circuit.settle(value.linear);
    (this.#sums.get(wire) as LinearSum).add(linear, 1n << exponent);
  }

  /** @param computed true for signals that the circuit computes */
  close(computed: boolean): void {
    for (const [wire, sum] of this.#sums) {
      const content = new Map(sum.done());
      if (computed) {
        this.#circuit.assignPublic(wire, 1, (values, at) => {
          values[at] = evaluate(content, values);
        });
      }
      this.#circuit.enforceZero(
        sum.addTerm(wire, -1n).done(),
        `${this.#part.name} signal ${wire - 1 - this.#part.first} holds exactly these elements`,
      );
    }
  }
}

/** Bits of a codec's element that can be 1, and its value. */
interface Field {
  readonly bits: number;
  value(bits: readonly Int[]): Int;
}

function fieldOf(step: Step, part: PackedTensor): Field {
  if (part.offset !== 0) return { bits: 16, value: (bits) => shifted(number(bits), BigInt(-part.offset)) };
  if (step.type === "s8") return { bits: 8, value: (bits) => shifted(number(bits), -128n) };
  if (step.type === "bool") return { bits: 1, value: (bits) => number(bits) };
  if (step.type === "u8") return { bits: 8, value: (bits) => number(bits) };
  // Rows of a text's table; any s32 of a raw input is two's complement.
  if (part.fieldBytes < 4) return { bits: bitLength(BigInt(step.k - 1)), value: (bits) => number(bits) };
  return {
    bits: 32,
    value: (bits) => shifted(number([...bits.slice(0, 31), not(bits[31] as Int)]), -(1n << 31n)),
  };
}

/** A CODEC step's elements from its public signals: every bit of every field is checked, so there is one way to
 *  read them. */
export function unpackInput(circuit: Circuit, step: Step, part: PackedTensor): Int[] {
  const pieces = new Pieces(circuit, part);
  const { bits: count, value } = fieldOf(step, part);
  const elements = Array.from({ length: part.elements }, (_, i) => {
    circuit.element(i);
    const places = Array.from({ length: count }, (_, place) => locate(part, i, place));
    const wires = circuit.booleans(
      count,
      (values, first) => {
        places.forEach(({ wire, exponent }, place) => {
          values[first + place] = ((values[wire] as bigint) >> exponent) & 1n;
        });
      },
      "the input",
    );
    const bits = wires.map((wire) => bit(wireOf(wire)));
    bits.forEach((b, place) => {
      pieces.put(i, place, b);
    });
    return value(bits);
  });
  circuit.element(-1);
  pieces.close(false);
  return elements;
}

/** Public signals from the last step's elements.
 *  @param saturate to 16 bits, as the output codec int16s does
 *  @returns the wires that hold the binding */
export function packOutput(
  circuit: Circuit,
  step: Step,
  part: PackedTensor,
  elements: readonly Int[],
  saturate: boolean,
): number[] {
  const pieces = new Pieces(circuit, part);
  elements.forEach((x, i) => {
    circuit.element(i);
    if (part.fieldBytes === 1) {
      pieces.put(i, 0, step.type === "s8" ? shifted(x, 128n) : x);
      return;
    }
    const output = saturate ? saturated(circuit, x) : x;
    twosComplement(circuit, output, splitBits(part, i)).forEach(([place, value]) => {
      pieces.put(i, place, value);
    });
  });
  circuit.element(-1);
  const binding = pieces.putBinding();
  pieces.close(true);
  return binding;
}

function saturated(circuit: Circuit, x: Int): Int {
  const raised = maximum(circuit, x, constant(-32_768), "the lower limit of a lane");
  return minimum(circuit, raised, constant(32_767), "the upper limit of a lane");
}

/** Bit of an element's field at which the next signal begins, 0 where it lies in one signal. */
function splitBits(part: PackedTensor, element: number): number {
  const from = element * part.fieldBytes;
  const piece = Math.floor((from + part.fieldBytes - 1) / PIECE_BYTES);
  return piece * PIECE_BYTES <= from ? 0 : 8 * (from + part.fieldBytes - piece * PIECE_BYTES);
}

/** The 32 bits of x in parts that lie in one signal each. */
function twosComplement(c: Circuit, x: Int, split: number): (readonly [place: number, value: Int])[] {
  if (isConstant(x)) {
    const field = BigInt.asUintN(32, x.low);
    const low = BigInt.asUintN(split, field);
    return split === 0
      ? [[0, constant(field)]]
      : [
          [0, constant(low)],
          [split, constant(field >> BigInt(split))],
        ];
  }
  if (x.low >= 0n && (split === 0 || bitLength(x.high) <= split)) return [[0, x]];
  const negative = x.low < 0n;
  const k = negative ? signBits(x) : bitLength(x.high);
  const lifted = negative ? shifted(x, 1n << BigInt(k)) : x;
  const bits = bitsOf(c, lifted, negative ? k + 1 : k, negative ? `the output + 2^${k}` : "the output");
  // Above the bits of its size a number repeats its sign.
  const signBit = negative ? not(bits[k] as Int) : constant(0);
  const all = Array.from({ length: 32 }, (_, i) => (i < k ? (bits[i] as Int) : signBit));
  return split === 0
    ? [[0, number(all)]]
    : [
        [0, number(all, 0, split)],
        [split, number(all, split)],
      ];
}
