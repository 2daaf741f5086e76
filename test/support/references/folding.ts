/** References whose operands are all constant, so that import computes them; an input that is 0 is added, as no model's
 *  output may be constant. */
import { node, type Reference, scalar } from "./plain.ts";

const WHOLE = 6;
const FLOAT = 1;

/** The case with its inputs as constants. */
export const ofConstants =
  (reference: Reference): Reference =>
  (rng) => {
    const { graph, inputs, expected, ...rest } = reference(rng);
    const [output] = Object.keys(expected) as [string];
    const isFloat = graph.outputs[output] === "float32";
    const nodes = graph.nodes.map((one) => ({
      ...one,
      outputs: one.outputs.map((name) => (name === output ? "folded" : name)),
    }));
    const type = isFloat ? FLOAT : WHOLE;
    return {
      ...rest,
      graph: {
        ...graph,
        nodes: [
          ...nodes,
          node("Cast", ["folded"], { to: type }, "known"),
          node("Clip", ["nought", "nothing", "single"], {}, "seen"),
          node("Cast", ["seen"], { to: type }, "added"),
          node("Add", ["known", "added"], {}, output),
        ],
        inputs: { nought: { type: "int32", dims: [] } },
        outputs: { [output]: isFloat ? "float32" : "int32" },
        constants: {
          ...graph.constants,
          ...(inputs as NonNullable<typeof graph.constants>),
          nothing: scalar("int32", 0),
          single: scalar("int32", 1),
        },
        opset: Math.max(graph.opset ?? 17, 12),
      },
      inputs: { nought: { type: "int32", dims: [], data: [0] } },
      expected: { [output]: expected[output] as (typeof expected)[string] },
    };
  };
