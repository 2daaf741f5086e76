"""Small float models with fixed weights, quantized by onnxruntime as docs/IMPORT.md describes.

    python -m venv venv && venv/bin/pip install numpy onnx onnxruntime
    venv/bin/python tools/quantize_examples.py OUT

writes OUT/<model>.float.onnx and OUT/<model>.<form>.onnx. test/vectors/quantized holds the latter.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

OPSET = 21
CALIBRATION_INPUTS = 64


class Graph:
    """Nodes and weights of one model, appended in order; each layer returns its output's name."""

    def __init__(self, name: str, inputs: list[int]):
        self.name, self.inputs = name, inputs
        self.rng = np.random.default_rng([ord(letter) for letter in name])
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def weight(self, values: np.ndarray) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    def axes(self, axes: list[int]) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(axes, np.int64), name))
        return name

    def random(self, shape: list[int], fan_in: int) -> str:
        return self.weight(self.rng.normal(0, np.sqrt(2 / fan_in), shape))

    def node(self, op: str, inputs: list[str], **attributes) -> str:
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def gemm(self, x: str, columns: int, rows: int) -> str:
        bias = self.weight(self.rng.normal(0, 0.1, [rows]))
        return self.node("Gemm", [x, self.random([rows, columns], columns), bias], transB=1)

    def conv(self, x: str, channels: int, filters: int, kernel: list[int], stride=1, group=1) -> str:
        """Convolution with the padding that keeps sizes, then normalization as training leaves it."""
        axes = len(kernel)
        fan_in = channels // group * int(np.prod(kernel))
        y = self.node(
            "Conv",
            [x, self.random([filters, channels // group, *kernel], fan_in)],
            kernel_shape=kernel,
            strides=[stride] * axes,
            pads=[k // 2 for k in kernel] * 2,
            group=group,
        )
        statistics = [(1, 0.1), (0, 0.1), (0, 0.2), (1, 0.1)]
        normal = [self.weight(np.abs(self.rng.normal(m, s, [filters])) if m else self.rng.normal(m, s, [filters])) for m, s in statistics]
        return self.node("BatchNormalization", [y, *normal])

    def relu6(self, x: str) -> str:
        return self.node("Clip", [x, self.weight(np.array(0.0)), self.weight(np.array(6.0))])

    def model(self, output: str, classes: int) -> onnx.ModelProto:
        graph = helper.make_graph(
            self.nodes,
            self.name,
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch", *self.inputs])],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", classes])],
            self.weights,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def mlp() -> onnx.ModelProto:
    g = Graph("mlp", [16])
    x = g.node("Relu", [g.gemm("input", 16, 48)])
    x = g.node("Relu", [g.gemm(x, 48, 24)])
    return g.model(g.gemm(x, 24, 4), 4)


def conv1d() -> onnx.ModelProto:
    g = Graph("conv1d", [6, 64])
    x = g.node("Relu", [g.conv("input", 6, 16, [5])])
    x = g.node("MaxPool", [x], kernel_shape=[2], strides=[2])
    x = g.node("Relu", [g.conv(x, 16, 24, [3], stride=2)])
    x = g.node("Flatten", [g.node("GlobalAveragePool", [x])])
    return g.model(g.gemm(x, 24, 3), 3)


def mobilenet() -> onnx.ModelProto:
    """Inverted residuals: expand by 1x1, filter each channel by 3x3, project by 1x1; the sum where shapes allow."""
    g = Graph("mobilenet", [3, 24, 24])
    x, channels = g.relu6(g.conv("input", 3, 8, [3, 3], stride=2)), 8
    for filters, stride in [(8, 1), (16, 2), (16, 1)]:
        wide = 3 * channels
        y = g.relu6(g.conv(x, channels, wide, [1, 1]))
        y = g.relu6(g.conv(y, wide, wide, [3, 3], stride=stride, group=wide))
        y = g.conv(y, wide, filters, [1, 1])
        x = g.node("Add", [x, y]) if stride == 1 and filters == channels else y
        channels = filters
    x = g.node("Flatten", [g.node("GlobalAveragePool", [x])])
    return g.model(g.gemm(x, channels, 5), 5)


MODELS = {"mlp": mlp, "conv1d": conv1d, "mobilenet": mobilenet}

FORMS = {
    "qdq": dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QUInt8),
    "qoperator": dict(quant_format=QuantFormat.QOperator, activation_type=QuantType.QUInt8),
    "int16": dict(quant_format=QuantFormat.QDQ, activation_type=QuantType.QInt16),
}


class Calibration(CalibrationDataReader):
    """Inputs from which onnxruntime takes each tensor's range: yours are real ones."""

    def __init__(self, shape: list[int]):
        rng = np.random.default_rng(1)
        inputs = rng.normal(size=[CALIBRATION_INPUTS, 1, *shape]).astype(np.float32)
        self.feeds = iter([{"input": x} for x in inputs])

    def get_next(self):
        return next(self.feeds, None)


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, make in MODELS.items():
        model = make()
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim][1:]
        path = out / f"{name}.float.onnx"
        onnx.checker.check_model(model, full_check=True)
        onnx.save(model, path)
        with tempfile.TemporaryDirectory() as folder:
            prepared = Path(folder) / "prepared.onnx"
            # Folds BatchNormalization into the convolutions.
            quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
            for form, settings in FORMS.items():
                target = out / f"{name}.{form}.onnx"
                quantize_static(
                    str(prepared),
                    str(target),
                    Calibration(shape),
                    weight_type=QuantType.QInt8,
                    per_channel=True,
                    **settings,
                )
                print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: quantize_examples.py OUT")
    main(Path(sys.argv[1]))
