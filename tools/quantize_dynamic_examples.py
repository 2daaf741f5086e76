"""Small float models with fixed weights, quantized by onnxruntime's quantize_dynamic, as docs/IMPORT.md describes.

    python -m venv venv && venv/bin/pip install numpy onnx onnxruntime
    venv/bin/python tools/quantize_dynamic_examples.py OUT

writes OUT/<model>.dynamic.onnx. test/vectors/quantized holds them.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from quantize_examples import OPSET, Graph


def mlp() -> onnx.ModelProto:
    g = Graph("dynamic-mlp", [16])
    x = g.node("Relu", [g.gemm("input", 16, 48)])
    x = g.node("Clip", [g.gemm(x, 48, 24), g.weight(np.array(-3.0)), g.weight(np.array(3.0))])
    return g.model(g.gemm(x, 24, 4), 4)


def conv() -> onnx.ModelProto:
    """Convolutions with padding, strides and groups: outside of the input a window holds the zero point."""
    g = Graph("dynamic-conv", [3, 12, 12])

    def filtered(x: str, channels: int, filters: int, group: int = 1, stride: int = 1) -> str:
        weights = g.random([filters, channels // group, 3, 3], 9 * channels // group)
        bias = g.weight(g.rng.normal(0, 0.1, [filters]))
        return g.node("Conv", [x, weights, bias], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[stride] * 2, group=group)

    x = g.node("Relu", [filtered("input", 3, 8)])
    x = g.node("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    x = g.node("Relu", [filtered(x, 8, 8, group=8)])
    x = g.node("Flatten", [filtered(x, 8, 6, stride=2)])
    return g.model(g.gemm(x, 6 * 3 * 3, 5), 5)


def text() -> onnx.ModelProto:
    """Ids of 64 bits, the embedding's rows, their largest entries and a layer: a small classifier of texts."""
    g = Graph("dynamic-text", [])
    tokens, width = 12, 16
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", tokens])
    rows = g.node("Gather", [g.weight(g.rng.normal(0, 1, [60, width])), "ids"])
    hidden = g.node("Relu", [g.node("MatMul", [rows, g.random([width, 20], width)])])
    x = g.node("ReduceMax", [hidden, g.axes([1])], keepdims=0)
    model = g.model(g.gemm(x, 20, 3), 3)
    del model.graph.input[:]
    model.graph.input.append(ids)
    return model


MODELS = {"mlp": (mlp, {}), "conv": (conv, {}), "text": (text, {}), "channels": (mlp, {"per_channel": True})}


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, (make, settings) in MODELS.items():
        model = make()
        onnx.checker.check_model(model, full_check=True)
        path, target = out / f"{name}.float.onnx", out / f"{name}.dynamic.onnx"
        onnx.save(model, path)
        quantize_dynamic(str(path), str(target), weight_type=QuantType.QInt8 if settings else QuantType.QUInt8, **settings)
        print(f"{target.name}: {target.stat().st_size} bytes, opset {OPSET}")
        path.unlink()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: quantize_dynamic_examples.py OUT")
    main(Path(sys.argv[1]))
