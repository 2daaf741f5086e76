/** What a person types for a model's input, by its codec. */
import type { Model } from "../../../api/types.ts";
import { ApiFailure } from "../../data/api-failure.ts";

/** Text of each field, by its name. */
export type Draft = Readonly<Record<string, string>>;

/** A named number of an input of the codec int16s, as the manifest declares it. */
export interface NumberField {
  readonly name: string;
  readonly description?: string;
  readonly minimum: number;
  readonly maximum: number;
}

export interface Field {
  readonly name: string;
  readonly description: string | undefined;
  readonly kind: "text" | "list" | "number" | "bytes";
  /** of a list: how many numbers; of a text: bytes at most */
  readonly size: number;
  readonly minimum: number;
  readonly maximum: number;
}

const INT16 = { minimum: -32_768, maximum: 32_767 };
const PRICE = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Names of the 16-bit numbers, where the manifest of a stranger gives them as it should. */
function numberFields({ manifest, inputSize }: Model): NumberField[] | undefined {
  const assay = manifest?.assay;
  const [input] = isRecord(assay) && Array.isArray(assay.inputs) ? assay.inputs : [];
  const found: unknown = isRecord(input) ? input.numbers : undefined;
  if (!Array.isArray(found) || found.length !== inputSize) return undefined;
  return found.map((entry: unknown, i) => {
    const { name, description, minimum, maximum } = isRecord(entry) ? entry : {};
    return {
      name: typeof name === "string" ? name : `${i}`,
      ...(typeof description === "string" ? { description } : {}),
      minimum: typeof minimum === "number" ? minimum : INT16.minimum,
      maximum: typeof maximum === "number" ? maximum : INT16.maximum,
    };
  });
}

export function fieldsOf(model: Model): Field[] {
  const { inputCodec, inputSize } = model;
  const inputs = (model.function?.inputs ?? []) as readonly {
    readonly name: string;
    readonly description?: string;
  }[];
  const of = (i: number, name: string) => ({
    name: inputs[i]?.name || name,
    description: inputs[i]?.description,
  });
  switch (inputCodec) {
    case "text":
      return [{ ...of(0, "text"), kind: "text", size: inputSize, minimum: 0, maximum: 0 }];
    case "prices":
      return ["closes", "highs", "lows"].map((name, i) => ({
        ...of(i, name),
        kind: "list",
        size: inputSize,
        ...PRICE,
      }));
    case "int16s": {
      const named = numberFields(model);
      if (named === undefined) return [{ ...of(0, "numbers"), kind: "list", size: inputSize, ...INT16 }];
      return named.map((field) => ({ description: undefined, ...field, kind: "number", size: 1 }));
    }
    default:
      return [{ ...of(0, "data"), kind: "bytes", size: inputSize, minimum: 0, maximum: 0 }];
  }
}

const DAY_RATE = 0.6;

/** A price of some day, so that a form has something to begin with: a wave around 100, times 10^4. */
const examplePrice = (day: number, shift: number): number =>
  Math.round(1e4 * (100 + 4 * Math.sin(DAY_RATE * day) + shift));

/** What the fields hold at first: something that runs. */
export function draftOf(model: Model): Draft {
  const shifts: Readonly<Record<string, number>> = { closes: 0, highs: 1, lows: -1 };
  return Object.fromEntries(
    fieldsOf(model).map(({ name, kind, size, minimum }) => {
      if (kind === "text") return [name, "Profit beats forecasts, shares rise"];
      if (kind === "number") return [name, `${Math.max(0, minimum)}`];
      if (kind === "bytes") return [name, `0x${"00".repeat(size)}`];
      const at = (i: number): number =>
        model.inputCodec === "prices" ? examplePrice(i, shifts[name] ?? 0) : 0;
      return [name, Array.from({ length: size }, (_, i) => at(i)).join(", ")];
    }),
  );
}

/** A field's value as the codec takes it: a text, bytes, or numbers. */
export type Value = string | readonly number[];

const refuse = (name: string, why: string): never => {
  throw new ApiFailure("INPUT_INVALID", `${name}: ${why}.`, "Correct the field.");
};

/** @throws ApiFailure naming the field, the value and the limit */
export function readDraft(model: Model, draft: Draft): ReadonlyMap<string, Value> {
  return new Map(fieldsOf(model).map((field) => [field.name, readField(field, draft[field.name] ?? "")]));
}

function readField({ name, kind, size, minimum, maximum }: Field, text: string): Value {
  if (kind === "text") {
    const bytes = new TextEncoder().encode(text).length;
    return bytes > size ? refuse(name, `${bytes} bytes, at most ${size}`) : text;
  }
  if (kind === "bytes") {
    const isHex = /^0x([0-9a-fA-F]{2})*$/.test(text.trim());
    return isHex && text.trim().length === 2 + 2 * size
      ? text.trim()
      : refuse(name, `must be 0x and ${size} bytes`);
  }
  const parts = text.split(/[\s,;]+/).filter((part) => part !== "");
  if (parts.length !== size) refuse(name, `${parts.length} numbers, must be ${size}`);
  return parts.map((part) => {
    const value = Number(part);
    const isRight = Number.isInteger(value) && value >= minimum && value <= maximum;
    return isRight ? value : refuse(name, `${part} is no whole number from ${minimum} to ${maximum}`);
  });
}
