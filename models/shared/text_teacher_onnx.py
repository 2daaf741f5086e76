"""A teacher (text_teacher.py) as ONNX with dynamically quantized int8 weights, by which onnxruntime labels large sets,
several times faster than in binary32."""
import time

import numpy as np

from text_teacher import HEADS, WIDTH, log_softmax, word_pieces


def export_teacher(words, params, path):
    """Writes the teacher as ONNX (ids int64 [B,L], 0 = padding -> logits), linear layers as dynamic int8."""
    from onnx import TensorProto, helper, numpy_helper, save
    from onnxruntime.quantization import QuantType, quantize_dynamic

    nodes, consts = [], {}

    def const(name, value):
        consts[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def op(kind, inputs, **attrs):
        out = f"t{len(nodes)}"
        nodes.append(helper.make_node(kind, inputs, [out], name=out, **attrs))
        return out

    def dense(name, p, x):
        return op("Add", [op("MatMul", [x, const(name + "w", p["w"])]), const(name + "b", p["b"])])

    def norm(name, p, x):
        return op("LayerNormalization", [x, const(name + "g", p["g"]), const(name + "b", p["b"])], axis=-1, epsilon=1e-12)

    split = const("split", np.array([0, 0, HEADS, WIDTH // HEADS], np.int64))
    join = const("join", np.array([0, 0, WIDTH], np.int64))
    mask = op("Cast", [op("Greater", ["ids", const("zero", np.int64(0))])], to=TensorProto.FLOAT)
    bias = op("Unsqueeze", [op("Mul", [op("Sub", [mask, const("one", np.float32(1))]), const("far", np.float32(1e9))]),
                            const("heads_axes", np.array([1, 2], np.int64))])
    length = op("Slice", [op("Shape", ["ids"]), const("s1", np.array([1], np.int64)), const("s2", np.array([2], np.int64))])
    position = op("Slice", [const("position", params["position"]), const("s0", np.array([0], np.int64)), length])
    x = norm("n", params["norm"], op("Add", [op("Gather", [const("words", words), "ids"]), position]))
    for i, layer in enumerate(params["layers"]):
        q, k, v = (op("Reshape", [dense(f"{i}{n}", layer[n], x), split]) for n in "qkv")
        q = op("Mul", [op("Transpose", [q], perm=[0, 2, 1, 3]), const(f"{i}s", np.float32(1 / np.sqrt(WIDTH // HEADS)))])
        a = op("Softmax", [op("Add", [op("MatMul", [q, op("Transpose", [k], perm=[0, 2, 3, 1])]), bias])], axis=-1)
        a = op("MatMul", [a, op("Transpose", [v], perm=[0, 2, 1, 3])])
        a = op("Reshape", [op("Transpose", [a], perm=[0, 2, 1, 3]), join])
        x = norm(f"{i}n1", layer["n1"], op("Add", [x, dense(f"{i}o", layer["o"], a)]))
        up = dense(f"{i}u", layer["up"], x)
        gelu = op("Gelu", [up], domain="com.microsoft")
        x = norm(f"{i}n2", layer["n2"], op("Add", [x, dense(f"{i}d", layer["down"], gelu)]))
    wide = op("Unsqueeze", [mask, const("last", np.array([2], np.int64))])
    total = op("ReduceSum", [op("Mul", [x, wide]), const("a1", np.array([1], np.int64))], keepdims=0)
    mean = op("Div", [total, op("ReduceSum", [mask, const("a1", np.array([1], np.int64))], keepdims=1)])
    first = op("Gather", [x, const("i0", np.int64(0))], axis=1)
    out = dense("head", params["head"], op("Concat", [mean, first], axis=-1))
    nodes.append(helper.make_node("Identity", [out], ["logits"]))
    graph = helper.make_graph(nodes, "teacher", [helper.make_tensor_value_info("ids", TensorProto.INT64, ["B", "L"])],
                              [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["B", None])], list(consts.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)],
                              ir_version=8)
    save(model, path + ".f32")
    quantize_dynamic(path + ".f32", path, weight_type=QuantType.QInt8, per_channel=True, op_types_to_quantize=["MatMul"],
                     nodes_to_exclude=[n.name for n in nodes if n.op_type == "MatMul" and (n.input[1] not in consts or n.input[1] == "headw")],
                     extra_options={"MatMulConstBOnly": True, "DefaultTensorType": TensorProto.FLOAT})


def log_probabilities(path, texts, threads=1, batch=64, log=print):
    """Log-probabilities of an exported teacher for many texts."""
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    ids = word_pieces(texts)
    order = sorted(range(len(ids)), key=lambda n: len(ids[n]))
    out, start = None, time.time()
    for count, at in enumerate(range(0, len(order), batch)):
        pick = order[at:at + batch]
        wide = np.zeros((len(pick), len(ids[pick[-1]])), np.int64)
        for row, n in zip(wide, pick):
            row[:len(ids[n])] = ids[n]
        logits = session.run(None, {"ids": wide})[0].astype(np.float64)
        if out is None:
            out = np.zeros((len(texts), logits.shape[1]), np.float32)
        out[pick] = log_softmax(logits)
        if count % 500 == 499:
            log(f"labelled {at + len(pick)}/{len(texts)} {time.time() - start:.0f} s")
    return out
