import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "../../../base/bytes.ts";
import type { Model } from "../../../explorer/api/types.ts";
import { encodeDraft } from "../../../explorer/app/pages/model/encode.ts";
import { draftOf, fieldsOf, readDraft } from "../../../explorer/app/pages/model/inputs.ts";
import { decodeInput } from "../../../inference/codecs/input.ts";
import type { Manifest } from "../../../inference/manifest/assay.ts";
import { readProgram } from "../../../inference/program/validate.ts";
import { projectRoot } from "../../../tools/foundry.ts";

/** What the explorer answers of a shipped model, as far as a form needs it. */
function modelOf(name: string) {
  const folder = join(projectRoot, "models", name);
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8")) as Manifest;
  const { codec, selector } = manifest.assay;
  const model = {
    ...{ manifest, selector, inputCodec: codec.input, inputSize: codec.inputSize },
    function: manifest.abi[0],
  } as unknown as Model;
  const program = readProgram(readFileSync(join(folder, "program.bin")));
  const decode = (calldata: string) => decodeInput(program, fromHex(selector), fromHex(calldata));
  return { model, decode };
}

describe("encodeDraft", () => {
  it("default: what a form holds at first is an input of every codec that shipped models have", () => {
    for (const name of ["sentiment", "forecast-vix", "forecast-hourly", "credit", "policy"]) {
      const { model, decode } = modelOf(name);
      expect(() => decode(encodeDraft(model, readDraft(model, draftOf(model)))), name).not.toThrow();
    }
  });

  it("args: text, prices and named numbers arrive as they were typed", () => {
    const text = modelOf("sentiment");
    const typed = "Zinsen steigen – €, 利益";
    const calldata = encodeDraft(text.model, readDraft(text.model, { text: typed }));
    expect(toHex(new TextEncoder().encode(typed))).toBe(
      toHex((text.decode(calldata) as { text: Uint8Array }).text),
    );
    const credit = modelOf("credit");
    const fields = fieldsOf(credit.model);
    expect(fields).toHaveLength(18);
    const numbers = fields.map(({ minimum, maximum }, i) =>
      Math.min(maximum, Math.max(0, minimum) + (i % 2)),
    );
    const draft = Object.fromEntries(fields.map(({ name }, i) => [name, `${numbers[i]}`]));
    const input = credit.decode(encodeDraft(credit.model, readDraft(credit.model, draft)));
    if (input.codec !== "int16s") throw new Error(`The input is read by ${input.codec}.`);
    expect(Array.from(input.int16s)).toEqual(numbers);
  });

  it("error: names the field, the value and the limit", () => {
    const { model } = modelOf("forecast-vix");
    const prices = Array.from({ length: 65 }, () => "1").join(" ");
    const refused = (draft: Record<string, string>) => {
      try {
        readDraft(model, { closes: prices, highs: prices, lows: prices, ...draft });
      } catch (error) {
        return (error as Error).message;
      }
      return undefined;
    };
    expect(refused({})).toBeUndefined();
    expect(refused({ highs: "1 2" })).toBe("highs: 2 numbers, must be 65.");
    expect(refused({ lows: prices.replace("1", "-5") })).toMatch(/^lows: -5 is no whole number from 0 to /);
    expect(refused({ closes: prices.replace("1", "1e-3") })).toMatch(/^closes: 1e-3 is no whole number/);
  });
});
