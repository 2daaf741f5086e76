/** Random tree ensembles: the imported program against a plain walk through the trees, and against onnxruntime. */
import { describe, expect, it } from "vitest";
import { createRng, type Rng } from "../../../support/rng.ts";
import { scaled } from "../../../support/scale.ts";
import {
  compareOriginalTrees,
  compareWalk,
  lowered,
  nothingCounted,
  openOriginal,
  type TreeCount,
} from "../../../support/tree-compare.ts";
import {
  hasSets,
  leavesOf,
  type PlainEnsemble,
  type PlainNode,
  randomEnsemble,
  randomInput,
} from "../../../support/tree-ensembles.ts";

const ENSEMBLES = scaled(200, 3000);
const INPUTS = 6;

const ensembleOf = (seed: number): { readonly rng: Rng; readonly ensemble: PlainEnsemble } => {
  const rng = createRng(7000 + seed);
  return { rng, ensemble: randomEnsemble(rng) };
};

/** Why import refuses what the generator makes, now and then. */
const REFUSED = /no input changes its scores|Output scores is constant|beyond 2\^30/;

function loweredOrRefused(ensemble: PlainEnsemble): ReturnType<typeof lowered> | undefined {
  try {
    return lowered(ensemble);
  } catch (error) {
    if (error instanceof Error && REFUSED.test(error.message)) return undefined;
    throw error;
  }
}

describe("import of random tree ensembles", () => {
  it("default: scores are as near as import says, labels are those of the sums", () => {
    const count = nothingCounted();
    const kinds = new Map<string, number>();
    let [refused, groups] = [0, 0];
    for (let seed = 0; seed < ENSEMBLES; seed++) {
      const { rng, ensemble } = ensembleOf(seed);
      const run = loweredOrRefused(ensemble);
      if (run === undefined) {
        refused++;
        continue;
      }
      const kind = `${ensemble.operator} ${ensemble.transform} of ${ensemble.input}`;
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
      const dot = run.models.scores?.imported.model.program.steps.find(({ opcode }) => opcode === "dot");
      if ((dot?.k ?? 0) > 1) groups++;
      for (let i = 0; i < INPUTS; i++) {
        const before = count.wrong;
        compareWalk(ensemble, run, randomInput(rng, ensemble), count);
        if (count.wrong > before) process.stdout.write(`seed ${seed}: ${kind}\n`);
      }
    }
    process.stdout.write(
      `${ENSEMBLES} ensembles, ${refused} refused, ${groups} in several groups: ${JSON.stringify(count)}\n`,
    );
    process.stdout.write(
      `${[...kinds]
        .map(([kind, n]) => `${kind}: ${n}`)
        .sort()
        .join("\n")}\n`,
    );
    expect(count.wrong).toBe(0);
    expect(count.compared).toBeGreaterThan(12 * ENSEMBLES);
    expect(count.undecided / count.compared).toBeLessThan(0.02);
    expect(refused / ENSEMBLES).toBeLessThan(0.1);
    expect(kinds.size).toBeGreaterThanOrEqual(18);
    expect(groups).toBeGreaterThan(ENSEMBLES / 30);
  });

  it("behavior: onnxruntime gives the same labels, and scores as near as binary32 sums are", async () => {
    const count = nothingCounted();
    let files = 0;
    for (let seed = 0; seed < ENSEMBLES / 2; seed++) {
      const { rng, ensemble } = ensembleOf(seed);
      const run = hasSets(ensemble) ? undefined : loweredOrRefused(ensemble);
      const session = run === undefined ? undefined : await openOriginal(run.onnx);
      if (run === undefined || session === undefined) continue;
      files++;
      for (let i = 0; i < INPUTS; i++) {
        const before = count.wrong;
        await compareOriginalTrees(ensemble, run, session, randomInput(rng, ensemble), count);
        if (count.wrong > before) {
          process.stdout.write(
            `seed ${seed}: ${ensemble.operator} ${ensemble.transform} ${ensemble.targets}\n`,
          );
        }
      }
      await session.release();
    }
    process.stdout.write(`${files} files in onnxruntime: ${JSON.stringify(count)}\n`);
    expect(count.wrong).toBe(0);
    expect(files).toBeGreaterThan(ENSEMBLES / 5);
  });
});

type Change = (node: PlainNode, rng: Rng) => PlainNode;

const changedTree = (tree: PlainNode, change: Change, rng: Rng): PlainNode => {
  const node = change(tree, rng);
  return "mode" in node
    ? { ...node, yes: changedTree(node.yes, change, rng), no: changedTree(node.no, change, rng) }
    : node;
};

const branches =
  (change: (branch: Extract<PlainNode, { mode: number }>) => PlainNode): Change =>
  (node) =>
    "mode" in node ? change(node) : node;

/** What an importer could get wrong, as the ensemble that it would then compute. */
const FAULTS: Readonly<Record<string, Change>> = {
  "≤ read as <": branches((b) => (b.mode === 0 ? { ...b, mode: 1 } : b)),
  "< read as ≤": branches((b) => (b.mode === 1 ? { ...b, mode: 0 } : b)),
  "≥ read as >": branches((b) => (b.mode === 2 ? { ...b, mode: 3 } : b)),
  "> read as ≥": branches((b) => (b.mode === 3 ? { ...b, mode: 2 } : b)),
  "= read as ≤": branches((b) => (b.mode === 4 ? { ...b, mode: 0 } : b)),
  "≠ read as <": branches((b) => (b.mode === 5 ? { ...b, mode: 1 } : b)),
  "a set read as its first member": branches((b) =>
    b.mode === 6 ? { ...b, values: b.values.slice(0, 1) } : b,
  ),
  "thresholds rounded to 12 bits": branches((b) => ({
    ...b,
    values: b.values.map((v) => (Math.abs(v) < 1e6 ? Math.round(v * 1024) / 1024 : v)),
  })),
  "one feature further": branches((b) => ({ ...b, feature: Math.max(0, b.feature - 1) })),
  "leaves off by 2^-10": (node) =>
    "mode" in node ? node : { weights: node.weights.map(([c, w]) => [c, w * (1 + 2 ** -10)] as const) },
};

describe("the generator", () => {
  it.each(Object.entries(FAULTS))("behavior: finds %s", (_, change) => {
    const count: TreeCount = nothingCounted();
    for (let seed = 0; seed < 100 && count.wrong === 0; seed++) {
      const { rng, ensemble } = ensembleOf(seed);
      const faulty = { ...ensemble, trees: ensemble.trees.map((tree) => changedTree(tree, change, rng)) };
      const run = loweredOrRefused(faulty);
      if (run === undefined) continue;
      for (let i = 0; i < INPUTS; i++) compareWalk(ensemble, run, randomInput(rng, ensemble), count);
    }
    expect(count.wrong).toBeGreaterThan(0);
  });

  it("behavior: makes trees of one leaf, long ways and many leaves", () => {
    const sizes = Array.from({ length: ENSEMBLES }, (_, seed) =>
      ensembleOf(seed).ensemble.trees.reduce((sum, tree) => sum + leavesOf(tree).length, 0),
    );
    expect(sizes.some((n) => n === 1)).toBe(true);
    expect(sizes.filter((n) => n > 992).length).toBeGreaterThan(5);
  });
});
