"""The smallest text model: a sum of hashed word rows and one hidden layer, trained in JAX for integers.

sum of the rows of at most T words, int32 [D] -> uint8 around 128 by one shift -> int8 layer, relu, uint8 by one shift
-> int8 layer -> scores. Nothing else, so that a proof of it needs one look-up a word.
"""
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

from text_onnx import CENTRE


@dataclass(frozen=True)
class Shape:
    tokens: int = 32
    grams: int = 0
    rows: int = 4096
    width: int = 16
    hidden: int = 32
    classes: int = 3


@dataclass(frozen=True)
class Recipe:
    epochs: float = 12
    rate: float = 3e-3
    decay: float = .01
    batch: int = 128
    token_dropout: float = .25
    head_dropout: float = .1
    qat_epochs: float = 2
    qat_rate: float = 5e-4
    unit_bits: int = 12  # scores are in units of 2^-unit_bits nat


@dataclass(frozen=True, eq=False)
class Scales:
    """table = int8 * step [D]; sum = (uint8 - 128) * step * 2^shift; hidden = uint8 * hidden_step [H] * 2^hidden_shift."""
    step: np.ndarray
    shift: int
    hidden_step: np.ndarray
    hidden_shift: int
    unit_bits: int


def _integers(params, s, xp):
    """Unrounded values of the integer model's constants, in their own units."""
    wide, unit = s.step * 2. ** s.shift, 2. ** -s.unit_bits
    return {
        "table": xp.clip(params["table"] / s.step, -127, 127),
        "layer": xp.clip(params["layer"] * wide[:, None] / s.hidden_step, -127, 127),
        "layer_bias": params["layer_bias"] / s.hidden_step,
        "head": xp.clip(params["head"] * (s.hidden_step * 2. ** s.hidden_shift / unit)[:, None], -127, 127),
        "head_bias": params["head_bias"] / unit}


def quantize(params, s):
    """Integers of the exported model: table, layer, layer_bias, head, head_bias, shifts."""
    types = {"table": np.int8, "layer": np.int8, "layer_bias": np.int32, "head": np.int8, "head_bias": np.int32}
    values = _integers({k: np.asarray(v, np.float64) for k, v in params.items()}, s, np)
    q = {k: np.rint(v).astype(types[k]) for k, v in values.items()}
    q["table"][0] = 0
    return q | {"shift": s.shift, "hidden_shift": s.hidden_shift, "unit_bits": s.unit_bits}


def integer_scores(q, ids):
    """Scores of the quantized model in integers only, int32 [texts, classes]. @param ids int [texts, T, 1]"""
    total = q["table"][ids[:, :, 0]].astype(np.int32).sum(1)
    centred = np.clip((total + ((1 << q["shift"]) >> 1)) >> q["shift"], -CENTRE, 255 - CENTRE)
    acc = np.maximum(centred @ q["layer"].astype(np.int32) + q["layer_bias"], 0)
    u8 = np.minimum((acc + ((1 << q["hidden_shift"]) >> 1)) >> q["hidden_shift"], 255)
    return u8 @ q["head"].astype(np.int32) + q["head_bias"]


def _through(value, exact):
    """`exact` forward, the gradient of `value` backward."""
    return value + jax.lax.stop_gradient(exact - value)


def _dropped(key, rate, shape):
    return jax.random.bernoulli(key, 1 - rate, shape)


def _forward(params, ids, scales, keep=None):
    """Logits and hidden values. With scales, the forward pass is that of the integer model. @param keep of the hidden units"""
    present = (ids > 0)[:, :, None]
    if scales is None:
        hidden = jax.nn.relu((params["table"][ids] * present).sum(1) @ params["layer"] + params["layer_bias"])
        return (hidden if keep is None else hidden * keep) @ params["head"] + params["head_bias"], hidden
    q = {k: _through(v, jnp.rint(v)) for k, v in _integers(params, scales, jnp).items()}
    total = (q["table"][ids] * present).sum(1) / 2. ** scales.shift
    low, high = -CENTRE, 255 - CENTRE
    centred = _through(jnp.clip(total, low, high), jnp.clip(jnp.floor(total + .5), low, high))
    acc = (centred @ q["layer"] + q["layer_bias"]) / 2. ** scales.hidden_shift
    u8 = _through(jnp.clip(acc, 0, 255), jnp.clip(jnp.floor(acc + .5), 0, 255))
    scores = (u8 if keep is None else u8 * keep) @ q["head"] + q["head_bias"]
    return scores * 2. ** -scales.unit_bits, u8


class Student:
    def __init__(self, shape, seed):
        self.shape, self.rng, self.key = shape, np.random.default_rng(seed), jax.random.key(seed)
        draw = lambda scale, *dims: self.rng.normal(0, scale, dims).astype(np.float32)  # noqa: E731
        self.params = {
            "table": draw(.1, shape.rows, shape.width), "layer": draw(shape.width ** -.5, shape.width, shape.hidden),
            "layer_bias": np.zeros(shape.hidden, np.float32),
            "head": draw(.3, shape.hidden, shape.classes), "head_bias": np.zeros(shape.classes, np.float32)}

    def _run(self, ids, target, recipe, epochs, rate, scales):
        """AdamW with a cosine; the result is the mean of the weights over the last tenth of the steps."""
        steps = int(epochs * len(ids) / recipe.batch)
        optimizer = optax.adamw(optax.cosine_decay_schedule(rate, steps, .01), weight_decay=recipe.decay)

        def loss(params, rows, soft, key):
            words, units = jax.random.split(key)
            rows = jnp.where(_dropped(words, recipe.token_dropout, rows.shape), rows, 0)
            keep = _dropped(units, recipe.head_dropout, (len(rows), self.shape.hidden)) / (1 - recipe.head_dropout)
            logits, _ = _forward(params, rows, scales, keep)
            return -(soft * jax.nn.log_softmax(logits)).sum(1).mean()

        @partial(jax.jit, donate_argnums=0)
        def chunk(state, picks):
            def one(state, pick):
                params, moments, key = state
                key, own = jax.random.split(key)
                grads = jax.grad(loss)(params, ids[pick], target[pick], own)
                update, moments = optimizer.update(grads, moments, params)
                return (optax.apply_updates(params, update), moments, key), None
            return jax.lax.scan(one, state, picks)[0]

        picks = np.concatenate([self.rng.permutation(len(ids)) for _ in range(int(np.ceil(epochs)) + 1)])
        picks = picks[:steps * recipe.batch].reshape(steps, recipe.batch)
        size = max(1, steps // 20)
        params = jax.tree.map(jnp.asarray, self.params)
        state, means = (params, optimizer.init(params), self.key), []
        for at in range(0, steps, size):
            state = chunk(state, jnp.asarray(picks[at:at + size]))
            if at + size >= .9 * steps:
                means.append(jax.tree.map(np.asarray, state[0]))
        self.key = state[2]
        self.params = {k: np.mean([m[k] for m in means], 0) for k in means[0]}

    def _calibrated(self, ids, unit_bits):
        """Steps and shifts from the largest weights and the 99.9 % quantiles of the activations of `ids`."""
        p = self.params
        total = (p["table"][ids] * (ids > 0)[:, :, None]).sum(1)
        hidden = np.asarray(_forward(p, ids, None)[1])
        largest = np.quantile(np.abs(p["table"][1:]), .9999, axis=0)
        high = np.quantile(np.abs(total), .999, axis=0)
        shift = int(max(0, np.ceil(np.log2(np.median(high / largest)))))
        step = np.maximum(largest / 127, high / (127 * 2. ** shift))
        fits = np.abs(p["layer"] * (step * 2. ** shift)[:, None]).max(0) / 127
        top = np.quantile(hidden, .999, axis=0)
        room = 127 * 2. ** -unit_bits / np.abs(p["head"]).max(1)  # of hidden_step * 2^hidden_shift
        # The least loss of resolution: the layer's weights want a small step, the head's weights have only so much room.
        cost = {}
        for hidden_shift in range(0, 16):
            wide = np.maximum(fits, top / (255 * 2. ** hidden_shift))
            cost[hidden_shift] = (wide / fits).mean() + 10 * (wide * 2. ** hidden_shift > room).mean() \
                + (2. ** hidden_shift * wide * 255 / np.maximum(top, 1e-6)).mean() * .1
        hidden_shift = min(cost, key=cost.get)
        hidden_step = np.maximum(fits, top / (255 * 2. ** hidden_shift))
        return Scales(step.astype(np.float32), shift, hidden_step.astype(np.float32), hidden_shift, unit_bits)

    def train(self, ids, target, recipe, log=None):
        """Binary32 training, then calibration, then quantization-aware training. Returns the integers."""
        rows, soft = jnp.asarray(ids[:, :, 0], jnp.int32), jnp.asarray(target, jnp.float32)
        self._run(rows, soft, recipe, recipe.epochs, recipe.rate, None)
        scales = self._calibrated(ids[self.rng.permutation(len(ids))[:20_000], :, 0].astype(np.int32), recipe.unit_bits)
        self._run(rows, soft, recipe, recipe.qat_epochs, recipe.qat_rate, scales)
        if log:
            log(f"student: shifts {scales.shift} and {scales.hidden_shift}")
        return quantize(self.params, scales)
