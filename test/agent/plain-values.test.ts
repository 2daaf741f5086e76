import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { abiValuesOf, argumentSchema, type Callable, plainOutputOf } from "../../agent/plain-values.ts";
import { fromHex } from "../../base/bytes.ts";
import { modelFolder } from "../../cli/model-source.ts";
import { decodeInput } from "../../inference/codecs/input.ts";
import { writeInt16s } from "../../inference/codecs/int16s.ts";
import { type LoadedModel, loadModelFolder } from "../../inference/model-folder.ts";
import { decodeReturn, encodeCall } from "../../protocol/rules/abi.ts";

/** A shipped model as its manifest describes it. */
function callable(name: string): Callable & { readonly loaded: LoadedModel } {
  const loaded = loadModelFolder(modelFolder(name));
  const { abi, assay } = loaded.manifest;
  const [declared] = abi;
  if (declared === undefined) throw new Error("no function");
  const { input, output, inputSize } = assay.codec;
  return {
    loaded,
    function: { ...declared, selector: assay.selector as `0x${string}` },
    word: { inputCodec: input, outputCodec: output, inputSize },
    tensors: { inputs: assay.inputs, outputs: assay.outputs },
  };
}

/** The numbers that the model reads from a call with these values. */
function readBack(
  { loaded, ...model }: ReturnType<typeof callable>,
  values: Record<string, unknown>,
): number[] {
  const calldata = fromHex(encodeCall(model.function, abiValuesOf(model, values)));
  const input = decodeInput(loaded.model.program, loaded.selector, calldata);
  if (input.codec !== "int16s") throw new Error(input.codec);
  return [...Array.from(input.int16s)];
}

const credit = callable("credit");
const hourly = callable("forecast-hourly");
const facts = credit.tensors?.inputs[0]?.numbers ?? [];
const good = Object.fromEntries(facts.map(({ name, minimum = 0 }) => [name, minimum]));

describe("abiValuesOf", () => {
  it("default: eighteen facts by name are the eighteen numbers that the model reads, whatever their order", () => {
    expect(facts).toHaveLength(18);
    const fact = facts.map(({ minimum = -32_768, maximum = 32_767 }) =>
      fc.integer({ min: minimum, max: maximum }),
    );
    fc.assert(
      fc.property(
        fc.tuple(...fact),
        fc.shuffledSubarray(
          facts.map((_, i) => i),
          { minLength: 18 },
        ),
        (numbers, order) => {
          const values = Object.fromEntries(order.map((i) => [facts[i]?.name ?? "", numbers[i]]));
          expect(readBack(credit, values)).toEqual(numbers);
        },
      ),
    );
  });

  it("default: a tensor without names is an array of its shape", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -32_768, max: 32_767 }), { minLength: 3_584, maxLength: 3_584 }),
        (flat) => {
          const window = Array.from({ length: 512 }, (_, i) => flat.slice(7 * i, 7 * i + 7));
          expect(readBack(hourly, { window })).toEqual(flat);
        },
      ),
      { numRuns: 5 },
    );
  });

  it.each([
    [{ checkingAccountStatus: 4 }, "checkingAccountStatus is 4, must be a whole number from 0 to 3"],
    [{ purpose: -1 }, "purpose is -1, must be a whole number from 0 to 10"],
    [{ duration: 32_768 }, "duration is 32768, must be a whole number from 0 to 32767"],
    [{ dependents: 1.5 }, "dependents is 1.5, must be a whole number from 1 to 2"],
    [{ housing: "1" }, 'housing is "1", must be a whole number from 0 to 2'],
    [{ age: undefined }, "age is missing, must be a whole number from 0 to 32767"],
    [{ nationality: 1 }, "nationality is unknown"],
    [{ application: ["0", "0"] }, "application is unknown"],
  ])("error: %j is refused by its name", (change, message) => {
    expect(() => abiValuesOf(credit, { ...good, ...change })).toThrow(
      expect.objectContaining({ code: "INPUTS_INVALID", shortMessage: expect.stringContaining(message) }),
    );
  });

  it("error: an array of another shape, or a number of it that is out of range", () => {
    const window = Array.from({ length: 512 }, () => Array.from({ length: 7 }, () => 0));
    const refused = (changed: unknown, message: string) =>
      expect(() => abiValuesOf(hourly, { window: changed })).toThrow(message);
    refused(window.slice(1), "window is an array of 511, must be an array of 512");
    refused(window.with(3, [0]), "window[3] is an array of 1, must be an array of 7");
    refused(window.with(3, [0, 0, 40_000, 0, 0, 0, 0]), "window[3][2] is 40000, must be a whole number");
  });
});

describe("plainOutputOf", () => {
  it("default: packed numbers come out as an array of the tensor's shape", () => {
    const [tensor] = hourly.tensors?.outputs ?? [];
    const size = tensor?.dims.reduce((product, d) => product * d, 1) ?? 0;
    const numbers = Array.from({ length: size }, (_, i) => ((i * 7_919) % 65_536) - 32_768);
    const content = writeInt16s(numbers);
    const head = [32, content.length / 32].map((n) => n.toString(16).padStart(64, "0")).join("");
    const output = decodeReturn(hourly.function, `0x${head}${Buffer.from(content).toString("hex")}`);
    const plain = plainOutputOf(hourly, output)[tensor?.name ?? ""] as unknown[];
    expect(plain).toHaveLength(tensor?.dims[0] ?? 0);
    expect(plain.flat(9)).toEqual(numbers);
  });
});

describe("argumentSchema", () => {
  it("default: each fact with its range", () => {
    const schema = argumentSchema(credit) as { properties: Record<string, unknown>; required: string[] };
    expect(schema.required).toEqual(facts.map(({ name }) => name));
    expect(schema).toMatchObject({ type: "object", additionalProperties: false });
    expect(schema.properties.checkingAccountStatus).toMatchObject({
      type: "integer",
      minimum: 0,
      maximum: 3,
    });
    expect(schema.properties.duration).toMatchObject({ type: "integer", minimum: 0, maximum: 32_767 });
  });

  it("default: lengths of texts, prices, arrays and bytes", () => {
    const properties = (model: Callable) => argumentSchema(model).properties;
    expect(properties(callable("sentiment"))).toMatchObject({ text: { type: "string", maxLength: 1024 } });
    const prices = { type: "array", minItems: 65, maxItems: 65 };
    expect(properties(callable("forecast-vix"))).toMatchObject({
      closes: prices,
      highs: prices,
      lows: prices,
    });
    expect(properties(hourly)).toMatchObject({
      window: {
        minItems: 512,
        maxItems: 512,
        items: { minItems: 7, maxItems: 7, items: { type: "integer" } },
      },
    });
    const raw: Callable = {
      function: { selector: "0x", inputs: [{ name: "data", type: "bytes" }], outputs: [] },
      word: { inputCodec: "raw", outputCodec: "raw", inputSize: 4 },
    };
    expect(properties(raw)).toMatchObject({ data: { minLength: 10, maxLength: 10 } });
  });
});
