/** An ONNX file whose run does not end by itself. */
import { encode } from "../../inference/onnx/proto/encode.ts";
import type { SessionSource } from "../../inference/runtime/messages.ts";
import { encodeProto, graphProto } from "./onnx-file.ts";

/** Adds the input to a counter some 10^15 times: weeks on any machine. */
export function endlessModel(): SessionSource {
  const proto = graphProto({
    nodes: [{ op: "Loop", inputs: ["trips", "", "x"], outputs: ["y"] }],
    inputs: { x: { type: "int32", dims: [1] } },
    outputs: { y: "int32" },
    constants: { trips: { type: "int64", dims: [], data: [1e15] } },
  });
  const flag = { tensorType: { elemType: 9, shape: {} } };
  const number = { tensorType: { elemType: 6, shape: { dim: [{ dimValue: 1 }] } } };
  const body = {
    name: "body",
    node: [
      { opType: "Add", input: ["sum", "sum"], output: ["next"] },
      { opType: "Identity", input: ["goOn"], output: ["stillOn"] },
    ],
    input: [
      { name: "trip", type: { tensorType: { elemType: 7, shape: {} } } },
      { name: "goOn", type: flag },
      { name: "sum", type: number },
    ],
    output: [
      { name: "stillOn", type: flag },
      { name: "next", type: number },
    ],
  };
  const loop = proto.graph.node?.[0];
  if (loop === undefined) throw new Error("no node");
  loop.attribute = [{ name: "body", type: 5, g: encode("Graph", body) }];
  return {
    model: "endless",
    onnx: encodeProto(proto),
    inputs: [{ name: "x", type: "s32", dims: [1] }],
    output: { name: "y", type: "s32", dims: [1] },
  };
}
