/** The Solidity reader against the TypeScript reader, and its probabilities against their definition. */
import fc from "fast-check";
import type { Address, BaseError as ViemError } from "viem";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "../../../base/bytes.ts";
import { loadArtifact } from "../../../cli/artifacts.ts";
import type { ClassesMeaning, Readable } from "../../../inference/meaning/form.ts";
import { type ClassesReading, readOutput } from "../../../inference/meaning/read.ts";
import { ensureCompiled } from "../../../tools/compile.ts";
import { startLocalChain } from "../../support/anvil.ts";
import { createContract } from "../../support/create-contract.ts";
import { int16sOf, softmaxByDefinition, wordsOf } from "../../support/meanings.ts";

let local: Awaited<ReturnType<typeof startLocalChain>>;
let address: Address;
let abi: ReturnType<typeof loadArtifact>["abi"];

beforeAll(async () => {
  ensureCompiled("all");
  const artifact = loadArtifact("OutputReads");
  abi = artifact.abi;
  local = await startLocalChain();
  address = await createContract(local, artifact, []);
}, 600_000);
afterAll(() => local?.stop());

const call = async <T>(functionName: string, args: readonly unknown[]): Promise<T> =>
  (await local.client.readContract({ address, abi, functionName, args })) as T;

/** Of 10^-18: what the contract's documentation states. */
const MOST_OFF = 2n;

interface Scored {
  readonly scores: readonly bigint[];
  readonly scale: number;
  /** what the number in front of the scores says */
  readonly index: bigint;
}

/** Scores near each other and far apart, with scales of every size. */
const scored: fc.Arbitrary<Scored> = fc
  .tuple(fc.integer({ min: 2, max: 12 }), fc.integer({ min: 0, max: 52 }), fc.integer({ min: 0, max: 7 }))
  .chain(([classes, bits, spread]) =>
    fc.record({
      scores: fc.array(fc.bigInt({ min: -(2n ** BigInt(bits + spread)), max: 2n ** BigInt(bits + spread) }), {
        minLength: classes,
        maxLength: classes,
      }),
      scale: fc.integer({ min: 2 ** Math.max(0, bits - 1), max: 2 ** bits }),
      index: fc.integer({ min: -1, max: classes }).map(BigInt),
    }),
  );

function sectionOf({ scores, scale }: Scored, rest: Partial<ClassesMeaning> = { index: 0 }): Readable {
  const labels = scores.map((_, i) => `class ${i}`);
  const count = scores.length;
  const meaning: ClassesMeaning = { kind: "classes", labels, scores: { first: 1, count }, scale, ...rest };
  return { meaning, codec: { output: "words" }, outputLength: 32 * (count + 1), outputs: [] };
}

async function compare(one: Scored): Promise<void> {
  const { scores, scale, index } = one;
  const output = wordsOf([index, ...scores]);
  const data = toHex(output);
  const { length } = scores;
  const reading = readOutput(sectionOf(one), output)?.reading as ClassesReading;
  const greatest = readOutput(sectionOf(one, {}), output)?.reading as ClassesReading;
  const label = await call<bigint>("label", [data, 0n, BigInt(length)]).catch((error: ViemError) => {
    expect(error.message).toContain("UnknownClass");
    return undefined;
  });
  expect(label === undefined ? undefined : Number(label)).toBe(reading.index);
  const [best, margin] = await call<[bigint, bigint]>("top", [data, 1n, BigInt(length)]);
  expect(Number(best)).toBe(greatest.index);
  const sorted = [...scores].sort((a, b) => (a < b ? 1 : -1));
  expect(margin).toBe((sorted[0] as bigint) - (sorted[1] as bigint));
  const found = await call<readonly bigint[]>("probabilities", [data, 1n, BigInt(length), BigInt(scale)]);
  const exact = softmaxByDefinition(scores, [BigInt(scale), 1n]);
  found.forEach((probability, i) => {
    const off = probability - (exact[i] as bigint);
    if (off < -MOST_OFF || off > MOST_OFF) expect.fail(`class ${i} of ${scores} at ${scale}: off by ${off}`);
    const shown = reading.classes?.[i]?.probability as number;
    expect(Math.abs(shown - Number(probability) / 1e18)).toBeLessThan(0.000_050_01);
  });
}

describe("OutputReader.sol", () => {
  it("behavior: classes, margins and probabilities of random scores", { timeout: 120_000 }, async () => {
    await fc.assert(fc.asyncProperty(scored, compare), { numRuns: 400 });
  });

  it("args: ends of words, of exp and of its halvings, and 256 classes", { timeout: 60_000 }, async () => {
    const near = (steps: readonly bigint[]) =>
      steps.map((x): Scored => ({ scores: [x, 0n, 1n], scale: 4096, index: 0n }));
    const most = 2n ** 255n;
    const directed: readonly Scored[] = [
      { scores: [0n, 0n], scale: 1, index: 0n },
      { scores: [most - 1n, -most], scale: 1, index: 1n },
      { scores: [-most, most - 1n, 0n], scale: 2 ** 52, index: 2n },
      ...near([66n * 4096n, 67n * 4096n - 1n, 67n * 4096n, 68n * 4096n, 2838n, 2839n, 2840n]),
      { scores: Array.from({ length: 48 }, (_, i) => BigInt(i)), scale: 16, index: 47n },
    ];
    for (const one of directed) await compare(one);
    // The most classes, of which one is asked for: all would take more gas than a call has.
    const many = Array.from({ length: 256 }, (_, i) => BigInt(i * 7_919) % 1_000n);
    const exact = softmaxByDefinition(many, [128n, 1n])[200] as bigint;
    const data = toHex(wordsOf([0n, ...many]));
    const found = await call<bigint>("probability", [data, 1n, 256n, 200n, 128n]);
    expect(found - exact).toBeLessThanOrEqual(MOST_OFF);
    expect(exact - found).toBeLessThanOrEqual(MOST_OFF);
  });

  it("behavior: numbers of words and of int16s are those that TypeScript reads", {
    timeout: 60_000,
  }, async () => {
    const word = fc.bigInt({ min: -(2n ** 255n), max: 2n ** 255n - 1n });
    const short = fc.bigInt({ min: -(2n ** 15n), max: 2n ** 15n - 1n });
    const lists = (item: fc.Arbitrary<bigint>) => fc.array(item, { minLength: 1, maxLength: 70 });
    const shown = { kind: "numbers", show: [{ place: 0 }] } as const;
    await fc.assert(
      fc.asyncProperty(lists(word), lists(short), async (words, shorts) => {
        const wide = wordsOf(words);
        const narrow = int16sOf(shorts);
        const section = (output: "words" | "int16s", data: Uint8Array, count: number): Readable => ({
          meaning: shown,
          codec: { output },
          outputLength: data.length,
          outputs: [{ dims: [count], offset: 0 }],
        });
        expect(await call("numbers", [toHex(wide)])).toEqual(
          readOutput(section("words", wide, words.length), wide)?.numbers,
        );
        expect(await call("int16Numbers", [toHex(narrow), BigInt(shorts.length)])).toEqual(
          readOutput(section("int16s", narrow, shorts.length), narrow)?.numbers,
        );
      }),
      { numRuns: 60 },
    );
  });

  it("behavior: a quantile as fixed point is the number by its scale", async () => {
    const narrow = fc.bigInt({ min: -(2n ** 190n), max: 2n ** 190n });
    await fc.assert(
      fc.asyncProperty(narrow, fc.bigInt({ min: 1n, max: 2n ** 128n - 1n }), async (value, scale) => {
        expect(await call("fixedPoint", [value, scale])).toBe((value * 10n ** 18n) / scale);
      }),
      { numRuns: 100 },
    );
    await expect(call("fixedPoint", [1n, 2n ** 128n])).rejects.toThrow("InvalidScale");
  });

  it("behavior: other results are seen to differ", () => {
    // What `compare` holds against the contract, on results that are off by a little.
    const scores = [0n, 1_000n, 2_000n];
    const exact = softmaxByDefinition(scores, [4096n, 1n]);
    const faults: Readonly<Record<string, readonly bigint[]>> = {
      "a scale that is one off": softmaxByDefinition(scores, [4097n, 1n]),
      "one score more": softmaxByDefinition([1n, 1_000n, 2_000n], [4096n, 1n]),
      "the order turned": [...exact].reverse(),
      "three units more": exact.map((p) => p + 3n),
      doubles: scores.map((_, i) => BigInt(Math.round((Number(exact[i]) / 1e18) * 1e15)) * 1_000n),
    };
    const isSeen = (found: readonly bigint[]) =>
      found.some((p, i) => p - (exact[i] as bigint) > MOST_OFF || (exact[i] as bigint) - p > MOST_OFF);
    const seen = Object.values(faults).filter(isSeen).length;
    process.stdout.write(`${seen} of ${Object.keys(faults).length} planted faults found\n`);
    expect(seen).toBe(Object.keys(faults).length);
  });
});
