"""Writes the integers of a trained text model as ONNX, in integers only, and runs the file."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def export(q, tokens, width, path, doc=""):
    """Graph: ids int32 [tokens, width] -> result int32 [1 + classes] = label, then the scores."""
    filters, classes = q["head"].shape
    nodes, consts = [], []

    def const(name, value, dtype):
        consts.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def op(kind, name, inputs, **attrs):
        nodes.append(helper.make_node(kind, inputs, [name], name=name, **attrs))
        return name

    def part(name, n):
        return op("Slice", name, ["sum", const(f"{name}_start", [n * filters], np.int64),
                                  const(f"{name}_end", [(n + 1) * filters], np.int64), channels, step])

    positions, channels, step = (const(n, [v], np.int64) for n, v in (("axis_positions", 0), ("axis_channels", 1), ("step", 1)))
    zero = const("zero", 0, np.int32)
    table = q["table"].copy()
    assert not table[0].any()
    rows = op("Gather", "rows", [const("table", table, np.int8), "ids"], axis=0)
    wide = op("Cast", "rows_int32", [rows], to=TensorProto.INT32)
    op("ReduceSum", "sum", [wide, const("axis_rows", [1], np.int64)], keepdims=0)
    left, centre, right = part("left", 0), part("centre", 1), part("right", 2)
    # The left part of token i belongs to position i + 1, the right part to position i - 1.
    before = op("Pad", "left_padded", [left, const("pad_start", [1, 0, 0, 0], np.int64), zero])
    before = op("Slice", "left_shifted", [before, const("first", [0], np.int64), const("first_end", [tokens], np.int64), positions, step])
    after = op("Pad", "right_padded", [right, const("pad_end", [0, 0, 1, 0], np.int64), zero])
    after = op("Slice", "right_shifted", [after, const("second", [1], np.int64), const("second_end", [tokens + 1], np.int64), positions, step])
    h = op("Add", "left_centre", [before, centre])
    h = op("Add", "convolution", [h, after])
    h = op("Add", "convolution_bias", [h, const("bias", q["bias"], np.int32)])
    top = op("ReduceMax", "maximum", [h], axes=[0], keepdims=1)
    top = op("Max", "relu", [top, zero])
    # One unit in the last place above 2^-shift: halves round up, as (x + 2^(shift-1)) >> shift does.
    scale = np.nextafter(np.float32(2.0 ** -q["shift"]), np.float32(np.inf))
    real = op("DequantizeLinear", "relu_real", [top, const("relu_scale", scale, np.float32), zero])
    u8 = op("QuantizeLinear", "pooled", [real, const("one", 1, np.float32), const("zero_u8", 0, np.uint8)])
    acc = op("MatMulInteger", "linear", [u8, const("head", q["head"], np.int8)])
    scores = op("Add", "scores", [acc, const("head_bias", q["head_bias"], np.int32)])
    label = op("ArgMax", "label_index", [scores], axis=1, keepdims=1, select_last_index=0)
    label = op("Cast", "label", [label], to=TensorProto.INT32)
    both = op("Concat", "label_scores", [label, scores], axis=1)
    op("Reshape", "result", [both, const("result_shape", [1 + classes], np.int64)])
    graph = helper.make_graph(
        nodes, "text", [helper.make_tensor_value_info("ids", TensorProto.INT32, [tokens, width])],
        [helper.make_tensor_value_info("result", TensorProto.INT32, [1 + classes])], consts, doc_string=doc)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="assay")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)
    return [n.op_type for n in nodes]


def run(path, ids):
    """Results of the file by onnxruntime, graph optimization off, int32 [texts, 1 + classes]."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return np.stack([session.run(None, {"ids": one})[0] for one in ids.astype(np.int32)])
