"""Trains the daily network: teachers on observed returns, one student on their mean, then integers.

Teachers minimize the pinball loss; a student with the same network is fitted to the mean of the
teachers' quantiles, then fitted again through the integer arithmetic (straight-through gradients).
Everything here is in units of sigma; features are bytes, (byte - 128) / 32 in float.
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import optax

from series_daily import FEATURES, HIDDEN, OUTPUT_UNIT, QUANTILES, features

UNIT = 100 * OUTPUT_UNIT  # output units in one sigma
STEP = 32  # byte steps in one unit of a feature
ROWS = 16_384  # training arrays are padded to this many rows, so that one compilation serves all
BATCH = 256


def new_network(key):
    a, b, c = jax.random.split(key, 3)
    return {
        "w1": jax.random.normal(a, (FEATURES, HIDDEN)) / 4,
        "b1": jax.random.normal(b, (HIDDEN,)) * 0.3,
        "w2": jax.random.normal(c, (HIDDEN, 3)) * 0.15,
        "b2": jnp.array([-1.3, 0.0, 1.4]),
    }


def _order(o):
    m = o[..., 1:2]
    return jnp.concatenate([m + jnp.minimum(o[..., :1], 0), m, m + jnp.maximum(o[..., 2:], 0)], axis=-1)


def quantiles(p, x):
    return _order(jax.nn.relu(x @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])


def _round(v):
    return v + jax.lax.stop_gradient(jnp.round(v) - v)


def integer_quantiles(p, x, scale):
    """As `quantiles`, through rounded weights and bytes. scale: {"alpha": [12], "shift": 2^bits}."""
    a, s = scale["alpha"], scale["shift"]
    w1 = _round(jnp.clip(p["w1"] * a, -127, 127))
    acc = (STEP * x) @ w1 + _round(p["b1"] * STEP * a)
    h = jnp.clip(_round(acc / s), 0, 255)
    w2 = _round(jnp.clip(p["w2"] * (s * UNIT / (STEP * a))[:, None], -127, 127))
    return _order((h @ w2 + _round(p["b2"] * UNIT)) / UNIT)


def _loss(p, batch, scale, mode):
    x, y, weight, target = batch
    q = integer_quantiles(p, x, scale) if mode == "integer" else quantiles(p, x)
    if mode == "teacher":
        d, t = y[:, None] - q, jnp.asarray(QUANTILES)
        return (weight[:, None] * jnp.maximum(t * d, (t - 1) * d)).sum(axis=1).mean()
    return jnp.abs(weight[:, None] * (q - target)).sum(axis=1).mean()


@partial(jax.jit, static_argnames=("mode",))
def _descend(p, data, rows, key, steps, rate, decay, noise, scale, mode):
    optimizer = optax.inject_hyperparams(optax.adamw)(learning_rate=1.0, weight_decay=decay)
    n = len(data[0])

    def step(i, carry):
        p, state, key = carry
        key, pick, jitter = jax.random.split(key, 3)
        index = jax.random.randint(pick, (BATCH,), 0, rows)
        batch = [d[index] for d in data]
        batch[0] = batch[0] + noise * jax.random.normal(jitter, batch[0].shape)
        state.hyperparams["learning_rate"] = rate * 0.5 * (1 + jnp.cos(jnp.pi * i / steps))
        updates, state = optimizer.update(jax.grad(_loss)(p, batch, scale, mode), state, p)
        return optax.apply_updates(p, updates), state, key

    assert n == ROWS
    return jax.lax.fori_loop(0, steps, step, (p, optimizer.init(p), key))[0]


def _pad(v):
    v = np.asarray(v, dtype=np.float32)
    return jnp.asarray(np.concatenate([v, np.zeros((ROWS - len(v), *v.shape[1:]), np.float32)]))


NO_SCALE = {"alpha": jnp.ones(HIDDEN), "shift": jnp.float32(1)}


def fit_teachers(x, y, weight, seeds, steps, rate=3e-3, decay=1e-2, noise=0.0):
    """Networks [len(seeds)] fitted to returns y in sigmas. x float [n, 16], weight [n]."""
    data = [_pad(x), _pad(y), _pad(weight), _pad(np.zeros((len(x), 3)))]
    nets = []
    for seed in seeds:
        start, run = jax.random.split(jax.random.key(seed))
        nets.append(_descend(new_network(start), data, len(x), run, steps, rate, decay, noise, NO_SCALE, "teacher"))
    return jax.tree.map(lambda *v: jnp.stack(v), *nets)


def mean_quantiles(teachers, x):
    return np.array(jax.vmap(quantiles, (0, None))(teachers, jnp.asarray(x, jnp.float32)).mean(axis=0))


def _scales(p, x, bits):
    """Per-neuron weight scale such that neither the weights nor the bytes of the hidden layer are clipped on x."""
    h = np.array(jax.nn.relu(x @ p["w1"] + p["b1"])).max(axis=0)
    alpha = np.minimum(127 / np.maximum(np.abs(p["w1"]).max(axis=0), 1e-6), 250 * 2**bits / (STEP * np.maximum(h, 1e-3)))
    return {"alpha": jnp.asarray(alpha, jnp.float32), "shift": jnp.float32(2**bits)}


def fit_student(x, weight, target, seed, steps, integer_steps, rate=3e-3):
    """The integer network that follows `target` [n, 3]: {w1, b1, bits, w2, b2}, and its mean distance from it in sigmas."""
    data = [_pad(x), _pad(np.zeros(len(x))), _pad(weight), _pad(target)]
    start, run, fine = jax.random.split(jax.random.key(seed), 3)
    p = _descend(new_network(start), data, len(x), run, steps, rate, 0.0, 0.0, NO_SCALE, "student")
    xs = jnp.asarray(x, jnp.float32)
    errors = {b: float(jnp.abs(integer_quantiles(p, xs, _scales(p, x, b)) - target).mean()) for b in range(3, 10)}
    bits = min(errors, key=errors.get)
    scale = _scales(p, x, bits)
    p = _descend(p, data, len(x), fine, integer_steps, rate / 10, 0.0, 0.0, scale, "integer")
    error = float(jnp.abs(integer_quantiles(p, xs, scale) - target).mean())
    p, a = {k: np.array(v, dtype=np.float64) for k, v in p.items()}, np.array(scale["alpha"], dtype=np.float64)
    return {
        "w1": np.round(np.clip(p["w1"] * a, -127, 127)).astype(np.int64),
        "b1": np.round(p["b1"] * STEP * a).astype(np.int64),
        "bits": bits,
        "w2": np.round(np.clip(p["w2"] * (2**bits * UNIT / (STEP * a))[:, None], -127, 127)).astype(np.int64),
        "b2": np.round(p["b2"] * UNIT).astype(np.int64),
    }, error


def inputs(x, form):
    """Windows to (float features [n, 16], sigma [n] in 1e-4)."""
    u, sigma = features(x, form)
    return (u - 128) / STEP, sigma
