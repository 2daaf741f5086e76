"""Small transformer text classifiers as Hugging Face's exporters write them, quantized by onnxruntime's quantize_dynamic.

    python -m venv venv && venv/bin/pip install numpy onnx onnxruntime
    venv/bin/python tools/transformer_examples.py OUT

writes OUT/bert.dynamic.onnx (operator set 14: Gelu and normalization in single operations, the mask times the least
float32, a pooler), OUT/distilbert.dynamic.onnx (operator set 17: LayerNormalization, the mask by Where) and
OUT/bert.float.onnx, the former before it was quantized. test/vectors/quantized holds them. Weights are random.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from quantize_examples import Graph

VOCABULARY, TOKENS, WIDTH, HEADS, INNER, LAYERS, CLASSES = 90, 12, 32, 2, 64, 2, 3
LEAST = np.finfo(np.float32).min


class Transformer(Graph):
    """The nodes that both forms share."""

    opset: int

    def normal(self, *shape: int, mean: float = 0, spread: float = 1) -> str:
        return self.weight(self.rng.normal(mean, spread, shape))

    def shape(self, *dims: int) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(dims, np.int64), name))
        return name

    def scalar(self, value: float) -> str:
        return self.weight(np.array(value))

    def dense(self, x: str, columns: int, rows: int) -> str:
        product = self.node("MatMul", [x, self.random([columns, rows], 2 * columns)])
        return self.node("Add", [self.normal(rows, spread=0.1), product])

    def normalized(self, x: str) -> str:
        gain, shift = self.normal(WIDTH, mean=1, spread=0.2), self.normal(WIDTH, spread=0.2)
        if self.opset >= 17:
            return self.node("LayerNormalization", [x, gain, shift], axis=-1, epsilon=1e-12)
        distance = self.node("Sub", [x, self.node("ReduceMean", [x], axes=[-1])])
        variance = self.node("ReduceMean", [self.node("Pow", [distance, self.scalar(2)])], axes=[-1])
        deviation = self.node("Sqrt", [self.node("Add", [variance, self.scalar(1e-12)])])
        quotient = self.node("Div", [distance, deviation])
        return self.node("Add", [self.node("Mul", [quotient, gain]), shift])

    def gelu(self, x: str) -> str:
        erf = self.node("Erf", [self.node("Div", [x, self.scalar(np.sqrt(2))])])
        return self.node("Mul", [self.node("Mul", [x, self.node("Add", [erf, self.scalar(1)])]), self.scalar(0.5)])

    def heads(self, x: str, perm: list[int]) -> str:
        """[batch, tokens, width] apart by heads; the shape is computed, as exporters leave it."""
        size = self.node("Unsqueeze", [self.node("Gather", [self.node("Shape", [x]), self.index(1)], axis=0), self.shape(0)])
        dims = self.node("Concat", [self.shape(1), size, self.shape(HEADS), self.shape(WIDTH // HEADS)], axis=0)
        return self.node("Transpose", [self.node("Reshape", [x, dims])], perm=perm)

    def index(self, i: int) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.array(i, np.int64), name))
        return name

    def layer(self, x: str, masked) -> str:
        q, k, v = (self.heads(self.dense(x, WIDTH, WIDTH), p) for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]))
        scores = self.node("Div", [self.node("MatMul", [q, k]), self.scalar(np.sqrt(WIDTH // HEADS))])
        weights = self.node("Softmax", [masked(scores)], axis=-1)
        context = self.node("Transpose", [self.node("MatMul", [weights, v])], perm=[0, 2, 1, 3])
        joined = self.node("Reshape", [context, self.shape(1, -1, WIDTH)])
        x = self.normalized(self.node("Add", [self.dense(joined, WIDTH, WIDTH), x]))
        inner = self.gelu(self.dense(x, WIDTH, INNER))
        return self.normalized(self.node("Add", [self.dense(inner, INNER, WIDTH), x]))

    def embedded(self, *ids: str) -> str:
        """Sum of the rows of a table for each of the ids, and of those of the positions."""
        rows = [self.node("Gather", [self.normal(VOCABULARY if i == 0 else 2, WIDTH), name]) for i, name in enumerate(ids)]
        positions = self.node("Gather", [self.normal(TOKENS, WIDTH), self.shape(*range(TOKENS))])
        x = rows[0]
        for other in [*rows[1:], positions]:
            x = self.node("Add", [x, other])
        return self.normalized(x)

    def finished(self, output: str) -> onnx.ModelProto:
        inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", TOKENS]) for name in self.inputs]
        self.nodes.append(helper.make_node("Identity", [output], ["logits"]))
        outputs = [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", CLASSES])]
        graph = helper.make_graph(self.nodes, self.name, inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


def bert() -> onnx.ModelProto:
    g = Transformer("bert", ["input_ids", "attention_mask", "token_type_ids"])
    g.opset = 14
    wide = g.node("Unsqueeze", [g.node("Unsqueeze", ["attention_mask", g.shape(1)]), g.shape(2)])
    absent = g.node("Sub", [g.scalar(1), g.node("Cast", [wide], to=TensorProto.FLOAT)])
    addend = g.node("Mul", [absent, g.scalar(LEAST)])
    x = g.embedded("input_ids", "token_type_ids")
    for _ in range(LAYERS):
        x = g.layer(x, lambda scores: g.node("Add", [scores, addend]))
    first = g.node("Tanh", [g.gemm(g.node("Gather", [x, g.index(0)], axis=1), WIDTH, WIDTH)])
    return g.finished(g.gemm(first, WIDTH, CLASSES))


def distilbert() -> onnx.ModelProto:
    g = Transformer("distilbert", ["input_ids", "attention_mask"])
    g.opset = 17
    absent = g.node("Reshape", [g.node("Equal", ["attention_mask", g.index(0)]), g.shape(1, 1, 1, TOKENS)])
    x = g.embedded("input_ids")
    spread = g.node("Expand", [absent, g.shape(1, HEADS, TOKENS, TOKENS)])
    for _ in range(LAYERS):
        x = g.layer(x, lambda scores: g.node("Where", [spread, g.scalar(-np.inf), scores]))
    first = g.node("Relu", [g.gemm(g.node("Gather", [x, g.index(0)], axis=1), WIDTH, WIDTH)])
    return g.finished(g.gemm(first, WIDTH, CLASSES))


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name, make in {"bert": bert, "distilbert": distilbert}.items():
        model = make()
        onnx.checker.check_model(model, full_check=True)
        path, target = out / f"{name}.float.onnx", out / f"{name}.dynamic.onnx"
        onnx.save(model, path)
        quantize_dynamic(str(path), str(target), weight_type=QuantType.QUInt8)
        print(f"{target.name}: {target.stat().st_size} bytes")
    (out / "distilbert.float.onnx").unlink()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: transformer_examples.py OUT")
    main(Path(sys.argv[1]))
