/** A chain's blocks with their answers, one JSON object a line, appended. The first line says which chain it is. */
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import type { Hex } from "viem";
import { z } from "zod";
import { fromHex, toHex } from "../../base/bytes.ts";
import { BaseError } from "../../base/errors.ts";
import type { Recorded } from "./tape.ts";

/** A block as it is kept. */
export interface KeptBlock {
  /** RLP */
  readonly block: Uint8Array;
  readonly answers: readonly Recorded[];
}

const hex = z.string().regex(/^0x([0-9a-f]{2})*$/) as unknown as z.ZodType<Hex>;
const headSchema = z.strictObject({ chain: z.literal("assay-devchain-1"), genesis: hex });
const blockSchema = z.strictObject({
  block: hex,
  answers: z.array(z.strictObject({ question: hex, ok: z.boolean(), data: hex })),
});

export class BlockFile {
  readonly #path: string;
  /** bytes, as this process left it */
  #size = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** The blocks after the first, in order; writes the head of a new file.
   *  @param genesis hash of the first block
   *  @throws BaseError CHAIN_FILE_OTHER, CHAIN_FILE_MALFORMED */
  open(genesis: Hex): KeptBlock[] {
    if (!existsSync(this.#path)) {
      this.#write([JSON.stringify({ chain: "assay-devchain-1", genesis })]);
      return [];
    }
    const [head, ...blocks] = readFileSync(this.#path, "utf8").split("\n");
    const found = this.#parse(headSchema, head ?? "", 1).genesis;
    if (found !== genesis) throw this.#otherChain(found, genesis);
    // A process that was killed leaves its last line unfinished: that block was not confirmed to anybody.
    if (blocks.at(-1) !== "") this.#write([head ?? "", ...blocks.slice(0, -1)]);
    this.#size = statSync(this.#path).size;
    return blocks.slice(0, -1).map((text, i) => {
      const { block, answers } = this.#parse(blockSchema, text, i + 2);
      const recorded = answers.map(
        ({ question, ok, data }): Recorded => [question, { ok, data: fromHex(data) }],
      );
      return { block: fromHex(block), answers: recorded };
    });
  }

  /** @throws BaseError CHAIN_FILE_BUSY if somebody else wrote to the file; it is left as it is */
  append({ block, answers }: KeptBlock): void {
    if (statSync(this.#path).size !== this.#size) throw this.#busy();
    const recorded = answers.map(([question, { ok, data }]) => ({ question, ok, data: toHex(data) }));
    appendFileSync(this.#path, `${JSON.stringify({ block: toHex(block), answers: recorded })}\n`);
    this.#size = statSync(this.#path).size;
  }

  #write(lines: readonly string[]): void {
    writeFileSync(this.#path, lines.map((text) => `${text}\n`).join(""));
    this.#size = statSync(this.#path).size;
  }

  #parse<T>(schema: z.ZodType<T>, text: string, number: number): T {
    try {
      return schema.parse(JSON.parse(text));
    } catch (cause) {
      throw new BaseError({
        code: "CHAIN_FILE_MALFORMED",
        shortMessage: `Line ${number} of ${this.#path} is no block of a development chain.`,
        nextStep: "Name another file; this one is left as it is.",
        cause,
      });
    }
  }

  #busy(): BaseError {
    return new BaseError({
      code: "CHAIN_FILE_BUSY",
      shortMessage: `${this.#path} was written to by somebody else; the block is not kept, and not mined.`,
      nextStep: "End the other process, then start this one again.",
    });
  }

  #otherChain(found: Hex, genesis: Hex): BaseError {
    return new BaseError({
      code: "CHAIN_FILE_OTHER",
      shortMessage: `${this.#path} holds the chain that begins with ${found}, not ${genesis}.`,
      nextStep: "Start with the chain id that it was begun with, or name another file.",
    });
  }
}
