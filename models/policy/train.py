"""Trains and exports the policy model: python train.py

ids of the delexicalized words -> width-3 convolution folded into the table -> the intent from the maximum over all
positions, and three pointers, each the position of the largest score."""

import base64
import json
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import onnx
import optax
from onnx import TensorProto, helper

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "shared")]

from sentences import INTENTS, POINTERS, TEST, TRAIN, cases, noisy, split  # noqa: E402
from text_onnx import _Graph  # noqa: E402

SEED = 7
TOKENS, ROWS, FILTERS = 32, 2048, 24
CHANNELS = FILTERS + len(POINTERS)
VARIANTS, EPOCHS, BATCH, RATE = 60, 6, 256, 3e-3
QAT_EPOCHS, QAT_RATE = 2, 5e-4
UNIT = 2.0 ** -10  # nat; one unit of an intent's score


def ids_of(texts):
    """Table rows of the words, by the product's own tokenizer. @return int32 [texts, TOKENS]"""
    encoded = "".join(base64.b64encode(t.encode()).decode() + "\n" for t in texts)
    done = subprocess.run(["npx", "tsx", "models/shared/text-ids.ts", str(TOKENS), "0", str(ROWS)], cwd=FOLDER.parent.parent,
                          input=encoded.encode(), stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, np.int32).reshape(len(texts), TOKENS)


def examples(found, rng=None):
    """@return ids, intent, pointers (-1 where there is none)"""
    texts, intents, pointers = [], [], []
    for text, intent in found:
        words, at = split(text if rng is None else noisy(rng, text))
        # What a finished clause pointed to no longer matters.
        keep = intent not in ("none", "done")
        texts.append(" ".join(words)), intents.append(INTENTS.index(intent))
        pointers.append([i if keep and i < TOKENS else -1 for i in at])
    return ids_of(texts), np.array(intents), np.array(pointers)


def quantized(params, s, xp, through=lambda x: x):
    """The constants of the integer model: table = q * step, head score = q * UNIT."""
    wide = s["step"][:FILTERS] * 2.0 ** s["shift"]
    return {
        "table": through(xp.clip(params["table"] / xp.tile(s["step"], 3), -127, 127)),
        "bias": through(params["bias"] / s["step"]),
        "head": through(xp.clip(params["head"] * wide[:, None] / UNIT, -127, 127)),
        "head_bias": through(params["head_bias"] / UNIT)}


def rounded(x):
    return x + jax.lax.stop_gradient(jnp.rint(x) - x)


def forward(params, ids, s=None):
    """Scores of the intents [N, I] and of the pointers [N, TOKENS, P]; with scales s as the integer model has them."""
    q = params if s is None else quantized(params, s, jnp, rounded)
    rows = q["table"][ids] * (ids > 0)[:, :, None]
    left, centre, right = jnp.split(rows, 3, axis=2)
    h = centre + jnp.pad(left, ((0, 0), (1, 0), (0, 0)))[:, :-1] + jnp.pad(right, ((0, 0), (0, 1), (0, 0)))[:, 1:] + q["bias"]
    top = jax.nn.relu(h[:, :, :FILTERS].max(1))
    points = h[:, :, FILTERS:]
    if s is None:
        return top @ q["head"] + q["head_bias"], points
    u8 = jnp.clip(top / 2.0 ** s["shift"], 0, 255)
    u8 = u8 + jax.lax.stop_gradient(jnp.clip(jnp.floor(top / 2.0 ** s["shift"] + .5), 0, 255) - u8)
    return (u8 @ q["head"] + q["head_bias"]) * UNIT, points * s["step"][FILTERS:]


def train(params, data, epochs, rate, rng, s=None):
    ids, intents, pointers = (jnp.asarray(a) for a in data)
    steps = int(epochs * len(ids) / BATCH)
    optimizer = optax.adamw(optax.cosine_decay_schedule(rate, steps, .01), weight_decay=.01)

    def loss(params, i):
        scores, points = forward(params, ids[i], s)
        ce = optax.softmax_cross_entropy_with_integer_labels(scores, intents[i]).mean()
        at = pointers[i]
        each = optax.softmax_cross_entropy_with_integer_labels(points.swapaxes(1, 2), jnp.maximum(at, 0))
        return ce + (each * (at >= 0)).sum() / jnp.maximum((at >= 0).sum(), 1)

    @jax.jit
    def step(params, opt, i):
        update, opt = optimizer.update(jax.grad(loss)(params, i), opt, params)
        return optax.apply_updates(params, update), opt

    opt = optimizer.init(params)
    for _ in range(steps):
        params, opt = step(params, opt, jnp.asarray(rng.integers(0, len(ids), BATCH)))
    return params


def scales_of(params, ids):
    """Steps of the table a channel, and the shift that fits the largest pooled value into a byte."""
    table = np.abs(np.asarray(params["table"])).reshape(ROWS, 3, CHANNELS)
    step = np.maximum(table.max((0, 1)) / 127, 1e-6).astype(np.float32)
    rows = np.asarray(params["table"])[ids] * (ids > 0)[:, :, None]
    left, centre, right = np.split(rows, 3, axis=2)
    h = centre + np.asarray(params["bias"])
    h[:, 1:] += left[:, :-1]
    h[:, :-1] += right[:, 1:]
    top = (h[:, :, :FILTERS].max(1) / step[:FILTERS]).max()
    return {"step": step, "shift": max(0, int(np.ceil(np.log2(top / 255))))}


def export(q, shift, path):
    g = _Graph()
    axis = lambda name, value: g.const(name, [value], np.int64)  # noqa: E731
    positions, channels, one = axis("axis_positions", 0), axis("axis_channels", 1), axis("step", 1)
    g.row_sums(q["table"], "ids")

    def cut(name, source, first, last, along):
        return g.op("Slice", name, [source, axis(f"{name}_start", first), axis(f"{name}_end", last), along, one])

    left, centre, right = (cut(n, "sum", i * CHANNELS, (i + 1) * CHANNELS, channels) for i, n in enumerate(("left", "centre", "right")))
    before = g.op("Pad", "left_padded", [left, g.const("pad_start", [1, 0, 0, 0], np.int64), g.zero()])
    before = cut("left_shifted", before, 0, TOKENS, positions)
    after = g.op("Pad", "right_padded", [right, g.const("pad_end", [0, 0, 1, 0], np.int64), g.zero()])
    after = cut("right_shifted", after, 1, TOKENS + 1, positions)
    h = g.op("Add", "left_centre", [before, centre])
    h = g.op("Add", "convolution", [h, after])
    h = g.op("Add", "convolution_bias", [h, g.const("bias", q["bias"], np.int32)])
    top = g.op("ReduceMax", "maximum", [cut("filters", h, 0, FILTERS, channels)], axes=[0], keepdims=1)
    top = g.op("Max", "relu", [top, g.zero()])
    pooled = g.shifted(top, shift, "pooled")
    acc = g.op("MatMulInteger", "linear", [pooled, g.const("head", q["head"], np.int8)])
    scores = g.op("Add", "scores", [acc, g.const("head_bias", q["head_bias"], np.int32)])
    intent = g.op("Cast", "intent", [g.op("ArgMax", "intent_index", [scores], axis=1, keepdims=1, select_last_index=0)], to=TensorProto.INT32)
    points = cut("pointer_scores", h, FILTERS, CHANNELS, channels)
    points = g.op("Transpose", "pointer_rows", [points], perm=[1, 0])
    found = g.op("Cast", "pointers", [g.op("ArgMax", "pointer_index", [points], axis=1, keepdims=1, select_last_index=0)], to=TensorProto.INT32)
    both = g.op("Concat", "intent_pointers", [intent, found], axis=0)
    g.op("Reshape", "result", [both, g.const("result_shape", [1 + len(POINTERS)], np.int64)])
    graph = helper.make_graph(
        g.nodes, "policy", [helper.make_tensor_value_info("ids", TensorProto.INT32, [TOKENS, 1])],
        [helper.make_tensor_value_info("result", TensorProto.INT32, [1 + len(POINTERS)])], list(g.consts.values()),
        doc_string="Next tool of an agent and the words that fill it in.")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="assay")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def run(path, ids):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return np.stack([session.run(None, {"ids": one.reshape(TOKENS, 1)})[0] for one in ids])


def measure(found, data):
    """Share in % of right intents; of right pointers where one is marked; and of texts with all of both right."""
    _, intents, pointers = data
    right = found[:, 0] == intents
    marked = pointers >= 0
    pointed = (found[:, 1:] == pointers) | ~marked
    of = lambda hit: round(100 * float(np.mean(hit)), 2)  # noqa: E731
    return {"texts": len(intents), "intent": of(right), "pointers": of(pointed[marked]), "whole": of(right & pointed.all(1)),
            "acts where it should not": int((~np.isin(found[:, 0], (0, 1)) & np.isin(intents, (0, 1))).sum())}


def main():
    rng = np.random.default_rng(SEED)
    base = cases(TRAIN)
    data = examples([c for c in base for _ in range(VARIANTS)], rng)
    draw = lambda scale, *dims: rng.normal(0, scale, dims).astype(np.float32)  # noqa: E731
    params = {"table": draw(.1, ROWS, 3 * CHANNELS), "bias": np.zeros(CHANNELS, np.float32),
              "head": draw(.3, FILTERS, len(INTENTS)), "head_bias": np.zeros(len(INTENTS), np.float32)}
    params = train(params, data, EPOCHS, RATE, rng)
    s = scales_of(params, data[0])
    params = train(params, data, QAT_EPOCHS, QAT_RATE, rng, s)
    types = {"table": np.int8, "bias": np.int32, "head": np.int8, "head_bias": np.int32}
    q = {k: np.rint(np.asarray(v, np.float64)).astype(types[k]) for k, v in quantized(params, s, np).items()}
    q["table"][0] = 0
    export(q, s["shift"], FOLDER / "model.onnx")

    plain, held = examples(base), examples(cases(TEST))
    metrics = {"train templates": measure(run(FOLDER / "model.onnx", plain[0]), plain),
               "test templates": measure(run(FOLDER / "model.onnx", held[0]), held)}
    wrong = run(FOLDER / "model.onnx", held[0])
    tests = cases(TEST)
    texts = [{"text": " ".join(split(t)[0]), "intent": int(i), "pointers": at.tolist()} for (t, _), i, at in zip(tests, held[1], held[2])]
    listed = ",\n".join(json.dumps(t, ensure_ascii=False) for t in texts)
    (FOLDER / "test-texts.json").write_text(f"[\n{listed}\n]\n")
    misses = [{"text": " ".join(split(t)[0]), "is": i, "found": INTENTS[w[0]]} for (t, i), w in zip(tests, wrong) if INTENTS[w[0]] != i]
    evaluation = {
        "protocol": "sentences.py: test templates share no sentence with the training templates; training adds noise, "
                    f"test texts are as written. One training (seed {SEED}), metrics of the int8 file by onnxruntime.",
        "intents": list(INTENTS), "pointers": list(POINTERS), "requantization shift": s["shift"],
        "training texts": len(data[0]), "metrics": metrics, "wrong intents on test": misses}
    (FOLDER / "eval.json").write_text(json.dumps(evaluation, indent=2, ensure_ascii=False) + "\n")
    print(json.dumps(metrics, indent=1)), print(*misses, sep="\n")


if __name__ == "__main__":
    main()
