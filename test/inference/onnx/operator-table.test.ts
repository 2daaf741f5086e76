import { describe, expect, it } from "vitest";
import { importOnnx } from "../../../inference/onnx/import.ts";
import type { OperatorRow } from "../../../inference/onnx/lower/operator-row.ts";
import { OPERATOR_ROWS } from "../../../inference/onnx/lower/operator-table.ts";
import type { Opcode } from "../../../inference/program/form.ts";
import { onnxFile, type TestNode } from "../../support/onnx-file.ts";
import { EXACT, NEAR } from "../../support/operator-graphs.ts";
import type { Generator } from "../../support/quantized-graphs.ts";
import { createRng } from "../../support/rng.ts";
import { TREE_GRAPHS } from "../../support/tree-ensembles.ts";

/** Trees are compared in trees/random.test.ts. */
const BOUNDED = { ...NEAR, ...TREE_GRAPHS };

const ROWS = new Map(OPERATOR_ROWS.flatMap((row) => Object.keys(row.operators).map((name) => [name, row])));
const nameOf = (node: TestNode): string =>
  node.domain === undefined ? node.op : `${node.domain}.${node.op}`;

const rowOf = (name: string): OperatorRow => {
  const row = ROWS.get(name);
  if (row === undefined) throw new Error(`no row for ${name}`);
  return row;
};

function operatorsOf(generators: Readonly<Record<string, Generator>>): Set<string> {
  const names = Object.values(generators).flatMap((generator) =>
    [1000, 1001, 1002, 1003].flatMap((seed) => generator(createRng(seed)).graph.nodes.map(nameOf)),
  );
  return new Set(names);
}

describe("OPERATOR_ROWS", () => {
  it("behavior: each operator is compared with onnxruntime, exact ones bit for bit", () => {
    const [exact, near] = [operatorsOf(EXACT), operatorsOf(BOUNDED)];
    const missing = [...ROWS].filter(([name, row]) =>
      row.exactness === "exact" ? !exact.has(name) : !exact.has(name) && !near.has(name),
    );
    expect(missing.map(([name]) => name)).toEqual([]);
  });

  it("behavior: operators become only the opcodes that their rows name", () => {
    for (const [name, generator] of Object.entries({ ...EXACT, ...BOUNDED })) {
      const { graph } = generator(createRng(1001));
      const allowed = new Set<Opcode>(graph.nodes.flatMap((node) => rowOf(nameOf(node)).opcodes));
      const used = importOnnx(onnxFile(graph)).model.program.steps.map((step) => step.opcode);
      expect(
        used.filter((opcode) => opcode !== "codec" && !allowed.has(opcode)),
        name,
      ).toEqual([]);
    }
  });
});
