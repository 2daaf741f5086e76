/** Random meanings with outputs that they read, and what they should say, by definitions that share no code with the
 *  reader. */
import fc from "fast-check";
import type { ClassesMeaning, Meaning, Readable } from "../../inference/meaning/form.ts";
import type { Reading } from "../../inference/meaning/read.ts";

export interface MeaningCase {
  readonly section: Readable & { readonly meaning: Meaning };
  readonly output: Uint8Array;
  /** of the output, as it was made from them */
  readonly numbers: readonly bigint[];
  /** the scale as a fraction, which the section has as a number */
  readonly scale: readonly [over: bigint, under: bigint];
}

const word = (value: bigint): string => BigInt.asUintN(256, value).toString(16).padStart(64, "0");
const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, "hex"));

export const wordsOf = (numbers: readonly bigint[]): Uint8Array => bytes(numbers.map(word).join(""));

/** Return data `uint256[]` of 16-bit numbers. */
export function int16sOf(numbers: readonly bigint[]): Uint8Array {
  const digits = numbers.map((n) => BigInt.asUintN(16, n).toString(16).padStart(4, "0")).join("");
  const count = Math.ceil(numbers.length / 16);
  return bytes(word(32n) + word(BigInt(count)) + digits.padEnd(64 * count, "0"));
}

const sized = (bits: number) =>
  fc.bigInt({ min: -(2n ** BigInt(bits - 1)), max: 2n ** BigInt(bits - 1) - 1n });
const anyWord = fc.oneof(sized(8), sized(16), sized(32), sized(256));

/** Steps of a unit: whole ones, decimals, and powers of two. */
const scales = fc.oneof(
  fc.integer({ min: 1, max: 100_000 }).map((n) => [n, [BigInt(n), 1n]] as const),
  fc.integer({ min: 0, max: 40 }).map((bits) => [2 ** bits, [2n ** BigInt(bits), 1n]] as const),
  fc
    .tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: 1, max: 9 }))
    .map(
      ([digits, places]) =>
        [Number(`${digits}e-${places}`), [BigInt(digits), 10n ** BigInt(places)]] as const,
    ),
);

const texts = fc.constantFrom("tomorrow", "in 1 hour", "OT", "für morgen", "°C", "x");

const numberForm = fc.record(
  {
    unit: fc.constantFrom("%", "points", "°C"),
    decimals: fc.integer({ min: 0, max: 18 }),
    sign: fc.boolean(),
    suffix: texts,
  },
  { requiredKeys: [] },
);

/** @param count numbers of the output */
function meaningOf(count: number): fc.Arbitrary<{ meaning: Meaning; scale: readonly [bigint, bigint] }> {
  const place = fc.integer({ min: 0, max: count - 1 });
  const shown = fc
    .tuple(
      fc.array(fc.record({ place, name: texts }, { requiredKeys: ["place"] }), {
        minLength: 1,
        maxLength: 5,
      }),
      numberForm,
      scales,
    )
    .map(([show, form, [scale, fraction]]) => ({
      meaning: { kind: "numbers", show, ...form, scale } as Meaning,
      scale: fraction,
    }));
  const quantiles = fc
    .tuple(
      fc.uniqueArray(fc.integer({ min: 1, max: 99 }), { minLength: 1, maxLength: Math.min(5, count) }),
      fc.nat(),
      numberForm,
      scales,
    )
    .map(([levels, at, form, [scale, fraction]]) => ({
      meaning: {
        kind: "quantiles",
        quantiles: levels.sort((a, b) => a - b),
        first: at % (count - levels.length + 1),
        ...form,
        scale,
      } as Meaning,
      scale: fraction,
    }));
  const one = { scale: [1n, 1n] as const };
  const labels = (n: number) => Array.from({ length: n }, (_, i) => `class ${String.fromCharCode(97 + i)}`);
  if (count < 3) return fc.oneof(shown, quantiles);
  // All numbers are scores, but one that names the class, before or behind them.
  const classes = fc
    .tuple(fc.constantFrom("none", "before", "behind"), fc.boolean(), scales)
    .map(([index, scaled, [scale]]) => {
      const scores = {
        none: { first: 0, count },
        before: { first: 1, count: count - 1 },
        behind: { first: 0, count: count - 1 },
      }[index] as { first: number; count: number };
      const at = { none: {}, before: { index: 0 }, behind: { index: count - 1 } }[index] as object;
      const meaning = { kind: "classes", labels: labels(scores.count), ...at, scores };
      return { meaning: (scaled ? { ...meaning, scale } : meaning) as Meaning, ...one };
    });
  return fc.oneof(shown, quantiles, classes);
}

export const meaningCases: fc.Arbitrary<MeaningCase> = fc
  .tuple(fc.constantFrom("words" as const, "int16s" as const), fc.integer({ min: 1, max: 20 }))
  .chain(([output, count]) =>
    fc
      .tuple(
        meaningOf(count),
        fc.array(output === "words" ? anyWord : sized(16), { minLength: count, maxLength: count }),
        fc.nat(),
      )
      .map(([{ meaning, scale }, held, pick]): MeaningCase => {
        const numbers = withClass(meaning, held, pick);
        const data = output === "words" ? wordsOf(numbers) : int16sOf(numbers);
        const outputs = [{ dims: [count], offset: 0 }];
        return {
          section: { meaning, codec: { output }, outputLength: data.length, outputs },
          output: data,
          numbers,
          scale,
        };
      }),
  );

/** Mostly a class that there is, and scores near each other, whose probabilities say something. */
function withClass(meaning: Meaning, numbers: readonly bigint[], pick: number): readonly bigint[] {
  if (meaning.kind !== "classes" || pick % 4 === 0) return numbers;
  const { index, scale = 1 } = meaning;
  const near = numbers.map((n) => n % BigInt(Math.max(2, Math.min(30_000, Math.round(4 * scale)))));
  return index === undefined ? near : near.with(index, BigInt(pick % meaning.labels.length));
}

/** e^x in 10^-60, by the series after halving: a fraction of bigints throughout. @param x over/under, 0 or less */
function exp60(over: bigint, under: bigint): bigint {
  const one = 10n ** 60n;
  if (-over > 200n * under) return 0n;
  const halvings = 10n;
  const x = (over * one) / (under * 2n ** halvings);
  let [sum, term] = [one, one];
  for (let n = 1n; n < 60n; n++) {
    term = (term * x) / (n * one);
    sum += term;
  }
  for (let i = 0n; i < halvings; i++) sum = (sum * sum) / one;
  return sum;
}

/** exp(s/scale) of each over their sum, in 10^-18. @param scale positive */
export function softmaxByDefinition(
  scores: readonly bigint[],
  [over, under]: readonly [bigint, bigint],
): bigint[] {
  const most = [...scores].sort((a, b) => (a < b ? -1 : 1)).at(-1) as bigint;
  const powers = scores.map((score) => exp60((score - most) * under, over));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => (power * 10n ** 18n) / sum);
}

/** Why a reading is not what its case means; undefined where it is. */
export function readingFault({ section, numbers, scale }: MeaningCase, reading: Reading): string | undefined {
  const { meaning } = section;
  if (meaning.kind !== reading.kind) return `kind ${reading.kind}`;
  if (meaning.kind === "classes") return classesFault(meaning, numbers, reading);
  const shown =
    reading.kind === "quantiles" ? reading.quantiles : reading.kind === "numbers" ? reading.shown : [];
  const places =
    meaning.kind === "quantiles"
      ? meaning.quantiles.map((_, i) => (meaning.first ?? 0) + i)
      : meaning.show.map((s) => s.place);
  const names = meaning.kind === "quantiles" ? places.map(() => undefined) : meaning.show.map((s) => s.name);
  if (shown.length !== places.length) return `${shown.length} values`;
  const { decimals = 0, sign = false, unit, suffix } = meaning;
  for (const [i, place] of places.entries()) {
    const fault = decimalFault(shown[i]?.text ?? "", numbers[place] as bigint, scale, {
      decimals,
      sign,
      unit,
    });
    if (fault !== undefined) return `${shown[i]?.text} of ${numbers[place]}: ${fault}`;
    const plain = shown[i]?.text.replace("−", "-").replace(unit === undefined ? "" : ` ${unit}`, "");
    if (Number(plain) !== shown[i]?.value) return `value ${shown[i]?.value}`;
  }
  const parts = shown.map(({ text }, i) => (names[i] === undefined ? text : `${names[i]} ${text}`));
  const line = parts.join(meaning.kind === "quantiles" ? " … " : ", ");
  const whole = suffix === undefined ? line : `${line} ${suffix}`;
  return reading.text === whole ? undefined : `text ${reading.text} for ${whole}`;
}

/** Rounded half away from zero, by what that means: no other number of these decimals is nearer. */
function decimalFault(
  text: string,
  number: bigint,
  [over, under]: readonly [bigint, bigint],
  { decimals, sign, unit }: { decimals: number; sign: boolean; unit: string | undefined },
): string | undefined {
  const form = /^([−+]?)(\d+)(?:\.(\d+))?(?: (.+))?$/.exec(text);
  if (form === null) return "form";
  const [, mark = "", whole = "", fraction = "", behind] = form;
  if (behind !== unit) return "unit";
  if (fraction.length !== decimals) return "decimals";
  if (whole.length > 1 && whole.startsWith("0")) return "zeros";
  const units = BigInt(whole + fraction);
  if (mark === "−" && !(number < 0n && units > 0n)) return "minus";
  if (mark === "+" && !(sign && number > 0n && units > 0n)) return "plus";
  if (mark === "" && units > 0n && (number < 0n || sign)) return "no sign";
  // |number|·under/over·10^decimals against units: 2·(exact − units) lies in [-1, 1).
  const exact = 2n * (number < 0n ? -number : number) * under * 10n ** BigInt(decimals);
  return exact >= (2n * units - 1n) * over && exact < (2n * units + 1n) * over ? undefined : "rounding";
}

function classesFault(
  meaning: ClassesMeaning,
  numbers: readonly bigint[],
  reading: Reading,
): string | undefined {
  if (reading.kind !== "classes") return "kind";
  const { labels, index, scores = { first: 0, count: 0 }, scale } = meaning;
  const held = numbers.slice(scores.first, scores.first + scores.count);
  const best = held.findIndex((score) => held.every((other) => other <= score));
  const chosen = index === undefined ? BigInt(best) : (numbers[index] as bigint);
  const label = labels.find((_, i) => BigInt(i) === chosen);
  if (reading.label !== label) return `label ${reading.label} for ${label}`;
  if (label !== undefined && reading.index !== Number(chosen)) return `index ${reading.index}`;
  if (scale === undefined || label === undefined)
    return reading.text === (label ?? `class ${String(chosen).replace("-", "−")}, which has no name`)
      ? undefined
      : `text ${reading.text}`;
  // The scale of a case of classes is a number of the section itself: as a fraction of doubles it is exact.
  const fraction = fractionOf(scale);
  const expected = softmaxByDefinition(held, fraction).map((p) => Number(p) / 1e18);
  for (const [i, { probability }] of (reading.classes ?? []).entries())
    if (Math.abs((probability ?? 2) - (expected[i] as number)) > 0.000_050_1)
      return `probability ${probability}`;
  const own = expected[Number(chosen)] as number;
  if (reading.probability === undefined || Math.abs(reading.probability - own) > 0.000_050_1)
    return "probability";
  const percent = /^(.+) \((> |< |)(\d+\.\d) %\)$/.exec(reading.text);
  if (percent?.[1] !== label) return `text ${reading.text}`;
  const value = Number(percent[3]);
  if (percent[2] === ">") return own > 0.999 ? undefined : "not certain";
  if (percent[2] === "> ") return own >= 0.9994 && value === 99.9 ? undefined : "more";
  if (percent[2] === "< ") return own <= 0.0006 && value === 0.1 ? undefined : "less";
  return Math.abs(100 * own - value) <= 0.0501 && value > 0 && value < 100 ? undefined : `percent ${value}`;
}

/** A double as a fraction, by doubling it until it is whole. */
function fractionOf(value: number): readonly [bigint, bigint] {
  let [over, under] = [value, 1n];
  while (!Number.isInteger(over)) [over, under] = [2 * over, 2n * under];
  return [BigInt(over), under];
}
