"""Writes the integers of a trained text model as ONNX, in integers only, and runs the file."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

CENTRE = 128  # zero point of the summed words
LOOKUP_IDS = 16  # ids that one row of a program's LOOKUP takes


class _Graph:
    """A graph in the making: ids int32 [tokens, width] -> result int32 [1 + classes] = label, then the scores."""

    def __init__(self):
        self.nodes, self.consts = [], {}

    def const(self, name, value, dtype):
        self.consts.setdefault(name, numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def zero(self):
        return self.const("zero", 0, np.int32)

    def op(self, kind, name, inputs, **attrs):
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attrs))
        return name

    def row_sums(self, table, ids):
        """For each row of ids [N, J] the sum of the table rows that it names, int32 [N, D]; id 0 names none."""
        assert not table[0].any()
        rows = self.op("Gather", "rows", [self.const("table", table, np.int8), ids], axis=0)
        wide = self.op("Cast", "rows_int32", [rows], to=TensorProto.INT32)
        return self.op("ReduceSum", "sum", [wide, self.const("axis_rows", [1], np.int64)], keepdims=0)

    def shifted(self, value, shift, name):
        """uint8, saturated: (value + 2^(shift-1)) >> shift."""
        # One unit in the last place above 2^-shift: halves of positive values round up, as the shift does.
        scale = np.nextafter(np.float32(2.0 ** -shift), np.float32(np.inf))
        real = self.op("DequantizeLinear", f"{value}_real", [value, self.const(f"{value}_scale", scale, np.float32), self.zero()])
        return self.op("QuantizeLinear", name, [real, self.const("one", 1, np.float32), self.const("zero_u8", 0, np.uint8)])

    def save(self, u8, q, tokens, width, path, doc):
        """Adds the last layer, the label and the result, and writes the file. @return its operators"""
        acc = self.op("MatMulInteger", "linear", [u8, self.const("head", q["head"], np.int8)])
        scores = self.op("Add", "scores", [acc, self.const("head_bias", q["head_bias"], np.int32)])
        label = self.op("ArgMax", "label_index", [scores], axis=1, keepdims=1, select_last_index=0)
        label = self.op("Cast", "label", [label], to=TensorProto.INT32)
        both = self.op("Concat", "label_scores", [label, scores], axis=1)
        size = 1 + q["head"].shape[1]
        self.op("Reshape", "result", [both, self.const("result_shape", [size], np.int64)])
        graph = helper.make_graph(
            self.nodes, "text", [helper.make_tensor_value_info("ids", TensorProto.INT32, [tokens, width])],
            [helper.make_tensor_value_info("result", TensorProto.INT32, [size])], list(self.consts.values()), doc_string=doc)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="assay")
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        return [n.op_type for n in self.nodes]


def export_convolution(q, tokens, width, path, doc=""):
    """The model of text_student.py."""
    g, filters = _Graph(), len(q["bias"])

    def axis(name, value):
        return g.const(name, [value], np.int64)

    positions, channels, step = axis("axis_positions", 0), axis("axis_channels", 1), axis("step", 1)
    zero = g.zero()
    g.row_sums(q["table"], "ids")

    def part(name, n):
        return g.op("Slice", name, ["sum", axis(f"{name}_start", n * filters), axis(f"{name}_end", (n + 1) * filters), channels, step])

    left, centre, right = part("left", 0), part("centre", 1), part("right", 2)
    # The left part of token i belongs to position i + 1, the right part to position i - 1.
    before = g.op("Pad", "left_padded", [left, g.const("pad_start", [1, 0, 0, 0], np.int64), zero])
    before = g.op("Slice", "left_shifted", [before, axis("first", 0), axis("first_end", tokens), positions, step])
    after = g.op("Pad", "right_padded", [right, g.const("pad_end", [0, 0, 1, 0], np.int64), zero])
    after = g.op("Slice", "right_shifted", [after, axis("second", 1), axis("second_end", tokens + 1), positions, step])
    h = g.op("Add", "left_centre", [before, centre])
    h = g.op("Add", "convolution", [h, after])
    h = g.op("Add", "convolution_bias", [h, g.const("bias", q["bias"], np.int32)])
    top = g.op("ReduceMax", "maximum", [h], axes=[0], keepdims=1)
    top = g.op("Max", "relu", [top, zero])
    pooled = g.shifted(top, q["shift"], "pooled")
    return g.save(pooled, q, tokens, width, path, doc)


def export_words(q, tokens, path, doc=""):
    """The model of text_words.py. @param tokens a multiple of LOOKUP_IDS"""
    g = _Graph()
    ids = g.op("Reshape", "ids_rows", ["ids", g.const("ids_shape", [tokens // LOOKUP_IDS, LOOKUP_IDS], np.int64)])
    total = g.op("ReduceSum", "total", [g.row_sums(q["table"], ids), g.const("axis_parts", [0], np.int64)], keepdims=1)
    # The centre is added before the shift, not as its zero point: below 0 binary32 rounds halves down, there all saturates.
    total = g.op("Add", "raised", [total, g.const("centre_raised", CENTRE << q["shift"], np.int32)])
    centred = g.shifted(total, q["shift"], "centred")
    zero_point = g.const("centre", CENTRE, np.uint8)
    acc = g.op("MatMulInteger", "layer_product", [centred, g.const("layer", q["layer"], np.int8), zero_point])
    acc = g.op("Add", "layer_sum", [acc, g.const("layer_bias", q["layer_bias"], np.int32)])
    hidden = g.shifted(acc, q["hidden_shift"], "hidden")  # saturates at 0: the relu
    return g.save(hidden, q, tokens, 1, path, doc)


def run(path, ids):
    """Results of the file by onnxruntime, graph optimization off, int32 [texts, 1 + classes]."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return np.stack([session.run(None, {"ids": one})[0] for one in ids.astype(np.int32)])
