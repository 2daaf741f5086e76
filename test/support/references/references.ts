/** References of operators, by what they are called in reports; and how the importer is compared with them. */
import { runGraph } from "../onnx-run.ts";
import { createRng } from "../rng.ts";
import { CONVOLVING } from "./convolving.ts";
import { DYNAMIC } from "./dynamic.ts";
import { ofConstants } from "./folding.ts";
import { FUNCTIONS } from "./functions.ts";
import { NORMALIZING } from "./normalizing.ts";
import { ORDERING } from "./ordering.ts";
import { PICKING } from "./picking.ts";
import { PLACING } from "./placing.ts";
import type { Expected, Reference, ReferenceCase } from "./plain.ts";
import { PRODUCTS } from "./products.ts";
import { RESIZING } from "./resizing.ts";

/** Those that import computes where all operands are constant. */
const FOLDED = [
  "Pad",
  "Slice",
  "DepthToSpace",
  "SpaceToDepth",
  "Resize",
  "Trilu",
  "OneHot",
  "Mod",
  "Mean",
  "PRelu",
];

const COMPUTED: Readonly<Record<string, Reference>> = {
  ...PLACING,
  ...RESIZING,
  ...PICKING,
  ...ORDERING,
  ...CONVOLVING,
  ...PRODUCTS,
  ...NORMALIZING,
  ...DYNAMIC,
  ...FUNCTIONS,
};

export const REFERENCES: Readonly<Record<string, Reference>> = {
  ...COMPUTED,
  ...Object.fromEntries(
    FOLDED.map((name) => [`${name} of constants`, ofConstants(COMPUTED[name] as Reference)]),
  ),
  "Gather of constants": ofConstants(PICKING["Gather of computed data from either end"] as Reference),
};

/** What a run gave for an output. */
export interface Found {
  readonly dims: readonly number[];
  readonly data: readonly number[];
}

/** The case of a seed. @throws RangeError for a name that no reference has */
export function referenceCase(name: string, seed: number): ReferenceCase {
  const reference = REFERENCES[name];
  if (reference === undefined) throw new RangeError(`There is no reference ${name}.`);
  return reference(createRng(seed));
}

/** The first difference of one output; undefined where there is none. */
export function differenceOf(name: string, expected: Expected, found: Found | undefined): string | undefined {
  if (found === undefined) return `output ${name} is not there`;
  if (found.dims.join() !== expected.dims.join()) return `${name} is [${found.dims}], not [${expected.dims}]`;
  const { within = 0 } = expected;
  const at = expected.data.findIndex((value, i) => !(Math.abs((found.data[i] as number) - value) <= within));
  if (at < 0) return undefined;
  return `${name}[${at}] of [${expected.dims}] is ${found.data[at]}, not ${expected.data[at]}`;
}

/** Compares outputs by name with what they must be. */
export const firstDifference = (
  { expected }: ReferenceCase,
  foundOf: (name: string) => Found | undefined,
): string | undefined =>
  Object.entries(expected)
    .map(([name, one]) => differenceOf(name, one, foundOf(name)))
    .find((difference) => difference !== undefined);

/** Imports the case's graph, runs the program, and compares. @throws BaseError of a refusal */
export function importDifference(made: ReferenceCase): string | undefined {
  const { outputs, dims } = runGraph(made.graph, made.inputs, made.settings);
  return firstDifference(made, (name) => {
    const [data, shape] = [outputs[name], dims[name]];
    return data === undefined || shape === undefined ? undefined : { data, dims: shape };
  });
}

/** The first of so many seeds whose case differs, or fails, and how. */
export function findFault(name: string, cases: number): { seed: number; what: string } | undefined {
  for (let seed = 1; seed <= cases; seed++) {
    try {
      const what = importDifference(referenceCase(name, seed));
      if (what !== undefined) return { seed, what };
    } catch (error) {
      return { seed, what: (error as Error).message.split("\n").slice(0, 3).join(" ") };
    }
  }
  return undefined;
}
