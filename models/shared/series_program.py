"""Integer ONNX graphs: builder, exact evaluation in 64-bit integers, and proof by intervals.

Every tensor is int32 or uint8, but for the float32 between a DequantizeLinear and the
QuantizeLinear that follows it, which together are one requantization to uint8.
`evaluate` computes the graph with integers alone; `prove` walks it with an interval for each
element and refuses a graph that could leave int32, divide by less than 1, or round otherwise
than the integer form of its requantizations.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 8
INT32 = (-(2**31), 2**31 - 1)


def shift_scale(bits):
    """2^-bits one unit in the last place up: rounding half to even then equals (acc + 2^(bits-1)) >> bits for acc >= 0."""
    return np.nextafter(np.float32(2.0**-bits), np.float32(np.inf))


class Graph:
    """Collects nodes; each method returns the name of its output tensor."""

    def __init__(self, name):
        self.name, self.nodes, self.initializers = name, [], []

    def const(self, name, value, dtype=np.int32):
        array = np.asarray(value)
        if np.issubdtype(dtype, np.integer) and not np.array_equal(array, array.astype(dtype)):
            raise ValueError(f"constant {name} does not fit {np.dtype(dtype)}")
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array.astype(dtype)), name))
        return name

    def node(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def slice(self, x, axis, start, end, output):
        bounds = [self.const(f"{output}_{k}", [v], np.int64) for k, v in (("starts", start), ("ends", end), ("axes", axis))]
        return self.node("Slice", [x, *bounds], output)

    def sum(self, x, axis, output):
        return self.node("ReduceSum", [x, self.const(f"{output}_axes", [axis], np.int64)], output, keepdims=1)

    def reshape(self, x, shape, output):
        return self.node("Reshape", [x, self.const(f"{output}_shape", shape, np.int64)], output)

    def clip(self, x, low, high, output):
        return self.node("Clip", [x, self.const(f"{output}_min", low), self.const(f"{output}_max", high)], output)

    def to_uint8(self, x, output):
        return self.node("Cast", [x], output, to=TensorProto.UINT8)

    def matmul(self, x, weights, zero_point, output):
        """uint8 [m, k] minus zero_point, times int8 [k, n], to int32 [m, n]."""
        inputs = [x, self.const(f"{output}_weights", weights, np.int8), self.const(f"{output}_zero_point", zero_point, np.uint8)]
        return self.node("MatMulInteger", inputs, output)

    def requantize(self, x, bits, axis, output):
        """int32 to uint8: clamp((x + 2^(bits-1)) >> bits, 0, 255). `bits` is a number, or one for each index of `axis`."""
        scale = np.array([shift_scale(b) for b in bits]) if np.ndim(bits) else shift_scale(bits)
        attributes = {"axis": axis} if np.ndim(bits) else {}
        real = self.node("DequantizeLinear", [x, self.const(f"{output}_scale", scale, np.float32)], f"{output}_real", **attributes)
        one, zero = self.const(f"{output}_one", 1.0, np.float32), self.const(f"{output}_zero", 0, np.uint8)
        return self.node("QuantizeLinear", [real, one, zero], output)

    def model(self, inputs, outputs, doc):
        def info(named):
            return [helper.make_tensor_value_info(n, TensorProto.INT32, s) for n, s in named]

        graph = helper.make_graph(self.nodes, self.name, info(inputs), info(outputs), self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="assay", ir_version=IR_VERSION)
        model.doc_string = doc
        onnx.checker.check_model(model, full_check=True)
        return model


def _constants(model):
    return {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}


def _attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def _bits(scale):
    """The shifts of a requantization, from its scales; refuses a scale that is not a power of two one unit up."""
    bits = np.round(-np.log2(scale.astype(np.float64))).astype(np.int64)
    if not np.array_equal(scale.ravel(), [shift_scale(b) for b in np.atleast_1d(bits)]):
        raise ValueError(f"scale {scale} is not a power of two one unit in the last place up")
    return bits


def _along(vector, axis, rank):
    return vector.reshape([-1 if i == axis % rank else 1 for i in range(rank)]) if vector.ndim else vector


def _div(a, b):
    return np.sign(a) * (np.abs(a) // b)


def _move(op, inputs, attributes):
    """Operators that only move elements."""
    x = inputs[0]
    if op == "Slice":
        (start,), (end,), (axis,) = inputs[1:]
        return x[tuple(slice(start, end) if i == axis else slice(None) for i in range(x.ndim))]
    if op == "Concat":
        return np.concatenate(inputs, axis=attributes["axis"])
    if op == "Reshape":
        return x.reshape(inputs[1])
    if op == "Transpose":
        return x.transpose(attributes["perm"])
    return None


def evaluate(model, feed):
    """The graph's outputs for one input, by name, computed in 64-bit integers."""
    values = {k: v.astype(np.int64) if v.dtype in (np.int32, np.int8, np.uint8) else v for k, v in _constants(model).items()}
    values |= {k: np.asarray(v, dtype=np.int64) for k, v in feed.items()}
    for node in model.graph.node:
        a, attributes = [values[n] for n in node.input], _attributes(node)
        match node.op_type:
            case "Slice" | "Concat" | "Reshape" | "Transpose":
                y = _move(node.op_type, a, attributes)
            case "Add":
                y = a[0] + a[1]
            case "Sub":
                y = a[0] - a[1]
            case "Mul":
                y = a[0] * a[1]
            case "Div":
                y = _div(a[0], a[1])
            case "Max":
                y = np.maximum(a[0], a[1])
            case "Min":
                y = np.minimum(a[0], a[1])
            case "Clip":
                y = np.clip(a[0], a[1], a[2])
            case "ReduceSum":
                y = a[0].sum(axis=tuple(a[1]), keepdims=True)
            case "Cast":
                y = a[0]
            case "MatMulInteger":
                y = (a[0] - a[2]) @ a[1]
            case "DequantizeLinear":
                bits = _along(_bits(a[1]), attributes.get("axis", 1), a[0].ndim)
                y = (a[0] + (1 << (bits - 1))) >> bits
            case "QuantizeLinear":
                y = np.clip(a[0], 0, 255)
            case other:
                raise ValueError(f"operator {other} is not part of the form")
        values[node.output[0]] = y
    return {o.name: values[o.name] for o in model.graph.output}


def _check_requantization(low, high, bits):
    """binary32 scaling with rounding half to even against the shift, for every accumulator that can change the byte."""
    low, high = max(int(low), -(2 << bits)), min(int(high), 257 << bits)
    for start in range(low, high + 1, 1 << 22):
        acc = np.arange(start, min(high + 1, start + (1 << 22)), dtype=np.int64)
        real = np.rint(acc.astype(np.float32) * shift_scale(bits)).astype(np.int64)
        if not np.array_equal(np.clip(real, 0, 255), np.clip((acc + (1 << (bits - 1))) >> bits, 0, 255)):
            raise ValueError(f"requantization by {bits} bits differs from its shift")
    return max(0, high - low + 1)


def prove(model, ranges):
    """Bounds each element of each tensor from `ranges` = {input: (low, high)}. Raises if the graph isn't safe.

    Returns {tensor: (lowest, highest)} and the number of accumulators for which requantization was compared.
    """
    box, compared = {}, 0
    for name, value in _constants(model).items():
        value = value.astype(np.int64) if value.dtype in (np.int32, np.int8, np.uint8) else value
        box[name] = (value, value)
    for tensor in model.graph.input:
        shape = [d.dim_value for d in tensor.type.tensor_type.shape.dim]
        box[tensor.name] = tuple(np.full(shape, v, dtype=np.int64) for v in ranges[tensor.name])
    for node in model.graph.node:
        attributes = _attributes(node)
        low, high = [box[n][0] for n in node.input], [box[n][1] for n in node.input]
        match node.op_type:
            case "Slice" | "Concat" | "Reshape" | "Transpose":
                y = _move(node.op_type, low, attributes), _move(node.op_type, high, attributes)
            case "Add":
                y = low[0] + low[1], high[0] + high[1]
            case "Sub":
                y = low[0] - high[1], high[0] - low[1]
            case "Mul":
                corners = [p * q for p in (low[0], high[0]) for q in (low[1], high[1])]
                y = np.minimum.reduce(corners), np.maximum.reduce(corners)
            case "Div":
                if low[1].min() < 1:
                    raise ValueError(f"{node.name}: the divisor can be {low[1].min()}, below 1")
                corners = [_div(p, q) for p in (low[0], high[0]) for q in (low[1], high[1])]
                y = np.minimum.reduce(corners), np.maximum.reduce(corners)
            case "Max":
                y = np.maximum(low[0], low[1]), np.maximum(high[0], high[1])
            case "Min":
                y = np.minimum(low[0], low[1]), np.minimum(high[0], high[1])
            case "Clip":
                y = tuple(np.clip(v, low[1], low[2]) for v in (low[0], high[0]))
            case "ReduceSum":
                y = tuple(v.sum(axis=tuple(low[1]), keepdims=True) for v in (low[0], high[0]))
            case "Cast":
                if low[0].min() < 0 or high[0].max() > 255:
                    raise ValueError(f"{node.name}: a value in [{low[0].min()}, {high[0].max()}] is cast to uint8")
                y = low[0], high[0]
            case "MatMulInteger":
                a, b, w = low[0] - low[2], high[0] - low[2], low[1]
                up, down = np.maximum(w, 0), np.minimum(w, 0)
                y = a @ up + b @ down, b @ up + a @ down
            case "DequantizeLinear":
                bits = np.broadcast_to(_along(_bits(low[1]), attributes.get("axis", 1), low[0].ndim), low[0].shape)
                for b in np.unique(bits):
                    compared += _check_requantization(low[0][bits == b].min(), high[0][bits == b].max(), int(b))
                y = tuple((v + (1 << (bits - 1))) >> bits for v in (low[0], high[0]))
            case "QuantizeLinear":
                y = tuple(np.clip(v, 0, 255) for v in (low[0], high[0]))
            case other:
                raise ValueError(f"operator {other} is not part of the form")
        if y[0].min() < INT32[0] or y[1].max() > INT32[1]:
            raise ValueError(f"{node.name}: [{y[0].min()}, {y[1].max()}] leaves int32")
        box[node.output[0]] = y
    made = [node.output[0] for node in model.graph.node]
    return {name: (int(box[name][0].min()), int(box[name][1].max())) for name in made}, compared


def describe(model):
    """The node list with inferred shapes, one line each."""
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in [*inferred.graph.value_info, *inferred.graph.output]}
    return [f"{n.op_type}({', '.join(n.input)}) -> {n.output[0]} {shapes[n.output[0]]}" for n in model.graph.node]


def run_onnxruntime(path, name, inputs):
    """First output of onnxruntime, graph optimization off, for each input in turn."""
    import onnxruntime as ort

    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return np.stack([session.run(None, {name: x})[0] for x in inputs])
