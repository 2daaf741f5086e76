"""A small text classifier with the inputs of Hugging Face's exporters, quantized by onnxruntime's quantize_static.

    python -m venv venv && venv/bin/pip install numpy onnx onnxruntime
    venv/bin/python tools/text_example.py OUT

writes OUT/text.qdq.onnx: input_ids and attention_mask [batch, sequence] of int64, the mean of the rows that the mask
leaves, two layers. test/vectors/quantized holds it. Weights are random.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process
from quantize_examples import CALIBRATION_INPUTS, OPSET, Graph

VOCABULARY, TOKENS, WIDTH, INNER, CLASSES = 300, 16, 24, 20, 3


def classifier() -> onnx.ModelProto:
    g = Graph("text", [])
    rows = g.node("Gather", [g.weight(g.rng.normal(0, 1, [VOCABULARY, WIDTH])), "input_ids"])
    is_token = g.node("Cast", ["attention_mask"], to=TensorProto.BOOL)
    mask = g.node("Unsqueeze", [g.node("Cast", [is_token], to=TensorProto.FLOAT), g.axes([2])])
    total = g.node("ReduceSum", [g.node("Mul", [rows, mask]), g.axes([1])], keepdims=0)
    tokens = g.node("ReduceSum", [g.node("Cast", [is_token], to=TensorProto.INT64), g.axes([1])], keepdims=1)
    count = g.node("Max", [g.node("Cast", [tokens], to=TensorProto.FLOAT), g.weight(np.array(1.0))])
    hidden = g.node("Relu", [g.gemm(g.node("Div", [total, count]), WIDTH, INNER)])
    g.gemm(hidden, INNER, CLASSES)
    g.nodes[-1].output[0] = "logits"
    ids = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"]) for name in Texts.INPUTS]
    scores = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])
    graph = helper.make_graph(g.nodes, "text", ids, [scores], g.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


class Texts(CalibrationDataReader):
    """Ids and masks of texts of some lengths; yours are what the tokenizer gives for real ones."""

    INPUTS = ("input_ids", "attention_mask")

    def __init__(self):
        rng = np.random.default_rng(1)
        lengths = rng.integers(1, TOKENS + 1, size=CALIBRATION_INPUTS)
        masks = [(np.arange(TOKENS) < n).astype(np.int64)[None] for n in lengths]
        ids = [rng.integers(1, VOCABULARY, size=[1, TOKENS]) * mask for mask in masks]
        self.feeds = iter([dict(zip(self.INPUTS, pair)) for pair in zip(ids, masks)])

    def get_next(self):
        return next(self.feeds, None)


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    model, target = classifier(), out / "text.qdq.onnx"
    onnx.checker.check_model(model, full_check=True)
    with tempfile.TemporaryDirectory() as folder:
        path, prepared = Path(folder) / "float.onnx", Path(folder) / "prepared.onnx"
        onnx.save(model, path)
        quant_pre_process(str(path), str(prepared), skip_symbolic_shape=True)
        quantize_static(
            str(prepared),
            str(target),
            Texts(),
            quant_format=QuantFormat.QDQ,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
        )
    print(f"{target.name}: {target.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: text_example.py OUT")
    main(Path(sys.argv[1]))
