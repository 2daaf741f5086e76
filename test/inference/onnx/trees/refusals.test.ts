/** What a tree ensemble is refused for, by name. */
import { describe, expect, it } from "vitest";
import { importOnnx } from "../../../../inference/onnx/import.ts";
import { onnxFile, type TestNode } from "../../../support/onnx-file.ts";

type Attributes = NonNullable<TestNode["attributes"]>;

/** One branch with two leaves. */
const STUMP: Attributes = {
  nodes_treeids: [0, 0, 0],
  nodes_nodeids: [0, 1, 2],
  nodes_featureids: [0, 0, 0],
  nodes_modes: { strings: ["BRANCH_LEQ", "LEAF", "LEAF"] },
  nodes_values: { floats: [0.5, 0, 0] },
  nodes_truenodeids: [1, 0, 0],
  nodes_falsenodeids: [2, 0, 0],
};
const TARGETS: Attributes = {
  ...STUMP,
  n_targets: 1,
  target_treeids: [0, 0],
  target_nodeids: [1, 2],
  target_ids: [0, 0],
  target_weights: { floats: [0.25, 1] },
};
const CLASSES: Attributes = {
  ...STUMP,
  classlabels_int64s: [0, 1],
  class_treeids: [0, 0],
  class_nodeids: [1, 2],
  class_ids: [0, 0],
  class_weights: { floats: [0.25, 1] },
};

function refusal(op: string, attributes: Attributes): string {
  const output = op === "TreeEnsembleClassifier" ? "label" : "y";
  const graph = {
    nodes: [{ op, domain: "ai.onnx.ml", inputs: ["x"], outputs: [output], attributes }],
    inputs: { x: { type: "float32" as const, dims: [1, 2] } },
    outputs: { [output]: op === "TreeEnsembleClassifier" ? ("int64" as const) : ("float32" as const) },
  };
  try {
    importOnnx(onnxFile(graph));
    return "accepted";
  } catch (error) {
    return (error as Error).message;
  }
}

const regressor = (changes: Attributes) => refusal("TreeEnsembleRegressor", { ...TARGETS, ...changes });
const classifier = (changes: Attributes) => refusal("TreeEnsembleClassifier", { ...CLASSES, ...changes });

describe("tree ensembles that are refused", () => {
  it.each<[string, Attributes, string]>([
    ["nothing", {}, "accepted"],
    ["a cycle", { nodes_truenodeids: [0, 0, 0] }, "is reached twice"],
    ["a shared branch", { nodes_truenodeids: [2, 0, 0] }, "is reached twice"],
    ["a node that is not there", { nodes_truenodeids: [7, 0, 0] }, "there is no node 0:7"],
    ["a node without a tree", { nodes_modes: { strings: ["LEAF", "LEAF", "LEAF"] } }, "a leaf has no weight"],
    ["a feature that is not there", { nodes_featureids: [2, 0, 0] }, "reads feature 2, the input has 0 to 1"],
    [
      "an unknown mode",
      { nodes_modes: { strings: ["BRANCH_XOR", "LEAF", "LEAF"] } },
      "has the mode BRANCH_XOR",
    ],
    ["lists of two lengths", { nodes_values: { floats: [0.5] } }, "nodes_values has 1 entries"],
    ["a weight that is infinite", { target_weights: { floats: [Infinity, 1] } }, "has the weight Infinity"],
    ["a target that is not there", { target_ids: [0, 1] }, "a weight for target 1, there are 0 to 0"],
    ["MAX", { aggregate_function: "MAX" }, "aggregates by MAX"],
    ["PROBIT", { post_transform: "PROBIT" }, "post_transform is PROBIT"],
    ["SOFTMAX_ZERO", { post_transform: "SOFTMAX_ZERO" }, "post_transform is SOFTMAX_ZERO"],
    ["a transform of one target", { post_transform: "LOGISTIC" }, "which onnxruntime leaves out"],
  ])("error: %s", (_, changes, reason) => {
    expect(regressor(changes)).toContain(reason);
  });

  it.each<[string, Attributes, string]>([
    ["nothing", {}, "accepted"],
    ["weights for both of two classes", { class_ids: [0, 1] }, "weights for class 0 and 1"],
    ["one class", { classlabels_int64s: [0] }, "it has 1 class labels"],
    [
      "classes without a weight that onnxruntime passes over",
      { classlabels_int64s: [0, 1, 2], class_ids: [0, 1], class_weights: { floats: [-1, 1] } },
      "some leaves have no weight for class 0, 1, 2",
    ],
  ])("error: a classifier with %s", (_, changes, reason) => {
    expect(classifier(changes)).toContain(reason);
  });
});
