import { describe, expect, test } from "vitest";
import { fromHex } from "../../base/bytes.ts";
import { OPENINGS } from "../../conformance/areas/commitments.ts";
import { renderAnswer } from "../../conformance/lines.ts";
import { answer } from "../../conformance/serve/answer.ts";
import { isBelow, NONE, OPCODES } from "../../inference/program/form.ts";
import { readProgram } from "../../inference/program/validate.ts";

const COMPUTING = OPCODES.filter((opcode) => opcode !== "codec");
const PROGRAMS = 8;

/** Whether a line's program ends with a LOOKUP below that has a mask. */
function isMasked(line: readonly string[]): boolean {
  const last = readProgram(fromHex(line[1] as string)).steps.at(-1);
  return last !== undefined && isBelow(last) && last.c !== NONE;
}

describe("OPENINGS", () => {
  test("behavior: what a LOOKUP below opens is as its mask says", async () => {
    let programs = 0;
    for (let seed = COMPUTING.indexOf("lookup"); programs < PROGRAMS; seed += COMPUTING.length) {
      const [first] = OPENINGS.cases(seed);
      if (first === undefined || !isMasked(first.line)) continue;
      programs++;
      for (const { line, expected } of OPENINGS.cases(seed)) {
        const found = renderAnswer(await answer(line.join(" ")));
        if (expected === "refused") expect(found, `seed ${seed}`).toMatch(/^refused/);
        else expect(found, `seed ${seed}`).toBe(`ok ${expected.join(" ")}`);
      }
    }
  });
});
