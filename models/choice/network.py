"""A language model of the Llama family in floats, as inference/derive reads it from a GGUF file."""

import math

import jax
import jax.numpy as jnp
import numpy as np

VOCABULARY, WIDTH, HIDDEN, LAYERS = 512, 64, 128, 4
HEADS, SHARED_HEADS = 4, 2
HEAD_WIDTH = WIDTH // HEADS
EPSILON, BASE = 1e-5, 1000.0
MATRICES = {"attn_q": (WIDTH, WIDTH), "attn_k": (SHARED_HEADS * HEAD_WIDTH, WIDTH), "attn_v": (SHARED_HEADS * HEAD_WIDTH, WIDTH),
            "attn_output": (WIDTH, WIDTH), "ffn_gate": (HIDDEN, WIDTH), "ffn_up": (HIDDEN, WIDTH), "ffn_down": (WIDTH, HIDDEN)}


def initial(rng):
    """By the tensors' names in a GGUF file, outermost dimension first."""
    draw = lambda dims, size: rng.normal(0, size, dims).astype(np.float32)  # noqa: E731
    found = {"token_embd.weight": draw((VOCABULARY, WIDTH), .3), "output_norm.weight": np.ones(WIDTH, np.float32)}
    for layer in range(LAYERS):
        for name, dims in MATRICES.items():
            back = name in ("attn_output", "ffn_down")
            found[f"blk.{layer}.{name}.weight"] = draw(dims, dims[1] ** -.5 / (math.sqrt(2 * LAYERS) if back else 1))
        for name in ("attn_norm", "ffn_norm"):
            found[f"blk.{layer}.{name}.weight"] = np.ones(WIDTH, np.float32)
    return found


def norm(x, gain):
    return x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + EPSILON) * gain


def rotated(x, places):
    """RoPE on [..., places, heads, HEAD_WIDTH], by pairs of neighbours (2i, 2i + 1)."""
    angles = places[:, None, None] * BASE ** (-np.arange(0, HEAD_WIDTH, 2) / HEAD_WIDTH)
    cos, sin = jnp.asarray(np.cos(angles), jnp.float32), jnp.asarray(np.sin(angles), jnp.float32)
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    even, odd = pairs[..., 0], pairs[..., 1]
    return jnp.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)


def by_head(x):
    """[B, T, heads, HEAD_WIDTH] as [B, HEADS, T, HEAD_WIDTH], shared ones as often as they are read."""
    return jnp.repeat(x.swapaxes(1, 2), HEADS // x.shape[2], 1)


def attended(q, k, v, allowed):
    """Exponentials of the scores, by which values and ones are summed: nothing else of [T, T] is summed or divided, which
    would take half of the time. Limits that no trained score comes near keep the exponentials finite."""
    scores = jnp.matmul(by_head(q) * HEAD_WIDTH ** -.5, by_head(k).swapaxes(2, 3))
    shares = jnp.where(allowed[:, None], jnp.exp(jnp.clip(scores, -40, 40)), 0)
    v = by_head(v)
    sums = jnp.matmul(shares, jnp.concatenate([v, jnp.ones_like(v[..., :1])], -1))
    return (sums[..., :-1] / sums[..., -1:]).swapaxes(1, 2).reshape(*allowed.shape[:2], WIDTH)


def forward(params, ids, places, allowed, see=lambda layer, site, x: None):
    """@param places of the ids, [T] @param allowed [B, T, T]: whether a place reads another
    @param see gets activations [B, T, ...] at each site
    @returns the state behind each layer [B, T, WIDTH], and the last norm's output"""
    batch, length = ids.shape
    x = params["token_embd.weight"][ids]
    states = []
    for layer in range(LAYERS):
        of = lambda name, layer=layer: params[f"blk.{layer}.{name}.weight"]  # noqa: E731
        seen = lambda site, value, layer=layer: (see(layer, site, value), value)[1]  # noqa: E731
        h = seen("attention", norm(x, of("attn_norm")))
        q, k, v = (h @ of(name).T for name in ("attn_q", "attn_k", "attn_v"))
        q = seen("q", rotated(q.reshape(batch, length, HEADS, HEAD_WIDTH), places))
        k = seen("k", rotated(k.reshape(batch, length, SHARED_HEADS, HEAD_WIDTH), places))
        v = seen("v", v).reshape(batch, length, SHARED_HEADS, HEAD_WIDTH)
        mixed = seen("mixed", attended(q, k, v, allowed))
        x = seen("residual", x + mixed @ of("attn_output").T)
        h = seen("mlp", norm(x, of("ffn_norm")))
        gate, up = seen("gate", h @ of("ffn_gate").T), seen("up", h @ of("ffn_up").T)
        x = seen("residual", x + seen("hidden", jax.nn.silu(gate) * up) @ of("ffn_down").T)
        states.append(x)
    final = norm(x, params["output_norm.weight"])
    see(None, "final", final)
    return states, final
