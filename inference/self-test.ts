/** Inputs that anybody can make again from a number, for checking that an engine computes a model as it should. */

import { type CodecInput, encodeInput } from "./codecs/input.ts";
import { keccak256 } from "./commit/keccak.ts";
import { execute } from "./executor/execute.ts";
import type { PreparedModel } from "./executor/prepared-model.ts";
import { elementBytes, elementCount, isClaimed, type Program } from "./program/form.ts";

/** Endless bytes: keccak256 of the seed and a counter. */
class Stream {
  private block: Uint8Array = new Uint8Array(0);
  private at = 0;
  private counter = 0;

  constructor(private readonly seed: number) {}

  byte(): number {
    if (this.at === this.block.length) {
      const key = new Uint8Array(8);
      new DataView(key.buffer).setUint32(0, this.seed);
      new DataView(key.buffer).setUint32(4, this.counter++);
      this.block = keccak256(key);
      this.at = 0;
    }
    return this.block[this.at++] as number;
  }

  /** 0 to n − 1, n ≤ 2^24. */
  below(n: number): number {
    return ((this.byte() << 16) | (this.byte() << 8) | this.byte()) % n;
  }
}

const WORDS =
  "profit loss beats misses stock falls rises up down $ABC % https://x.co/1 the a in 2024 record, debt!".split(
    " ",
  );

/** Calldata of one self-test. Even seeds stay near usual values, odd ones use the whole range. */
export function selfTestCalldata(program: Program, selector: Uint8Array, seed: number): Uint8Array {
  return encodeInput(program, selector, input(program, new Stream(seed), seed % 2 === 1));
}

function input(program: Program, stream: Stream, wide: boolean): CodecInput {
  const size = program.inputSize;
  switch (program.inputCodec) {
    case "text": {
      const length = wide ? stream.below(size + 1) : 0;
      if (wide) return { codec: "text", text: Uint8Array.from({ length }, () => stream.byte()) };
      const words = Array.from({ length: 2 + stream.below(12) }, () => WORDS[stream.below(WORDS.length)]);
      return { codec: "text", text: new TextEncoder().encode(words.join(" ")).subarray(0, size) };
    }
    case "prices":
      return { codec: "prices", ...prices(size, stream, wide) };
    case "int16s": {
      const spread = wide ? 65_536 : 512;
      return {
        codec: "int16s",
        int16s: Array.from({ length: size }, () => stream.below(spread) - spread / 2),
      };
    }
    case "raw":
      return { codec: "raw", bytes: raw(program, stream, wide) };
  }
}

function prices(n: number, stream: Stream, wide: boolean) {
  const closes: bigint[] = [];
  let close = 1_000_000;
  for (let i = 0; i < n; i++) {
    close = wide ? stream.below(2 ** 24) : Math.max(1, close + stream.below(20_001) - 10_000);
    closes.push(BigInt(close));
  }
  const highs = closes.map((c) => c + BigInt(stream.below(5000)));
  const lows = closes.map((c) => c - BigInt(Math.min(stream.below(5000), Number(c))));
  return { closes, highs, lows };
}

/** Random bytes; floats are a quarter of an integer, so that they stay finite. */
function raw(program: Program, stream: Stream, wide: boolean): Uint8Array {
  const bytes = Uint8Array.from({ length: program.inputSize }, () => stream.byte());
  const view = new DataView(bytes.buffer);
  for (const step of program.steps) {
    if (step.opcode !== "codec" || isClaimed(step) || elementBytes(step.type) === 1) continue;
    for (let i = 0; i < elementCount(step.dims); i++) {
      const at = step.k + 4 * i;
      if (step.type === "f32") view.setFloat32(at, (stream.below(4096) - 2048) / 4, true);
      else if (!wide) view.setInt32(at, stream.below(2048) - 1024, true);
    }
  }
  return bytes;
}

/** keccak256 of the canonical return data of a self-test. */
export function selfTestHash(prepared: PreparedModel, seed: number): Uint8Array {
  return keccak256(execute(prepared, selfTestCalldata(prepared.program, prepared.selector, seed)));
}
