"""Files of models/choice: the weights, how large activations become, and the test prompts with the float choices."""

import hashlib
import json
import math
import random
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from network import BASE, EPSILON, HEAD_WIDTH, HEADS, HIDDEN, LAYERS, SHARED_HEADS, VOCABULARY, WIDTH, forward
from sentences import plain, question, result, rule

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "shared"))

from gguf_file import F32, I32, STRING, U32, byte_letters, gguf_bytes

WEIGHTS = "weights.gguf"
CONTROL = ("<|end|>", "<|rule|>", "<|question|>", "<|result|>", "<|choice|>")
END, RULE, QUESTION, RESULT, CHOICE = range(256, 256 + len(CONTROL))
PROMPT = 208
NORMAL, IS_CONTROL, UNUSED = 1, 3, 5
# The owner's rule is the system message, the headline the user's, and what the tool said the assistant's.
TEMPLATE = ("{% for message in messages %}{% if message['role'] == 'system' %}{{ '<|rule|>' }}{% elif message['role'] == 'user' %}"
            "{{ '<|question|>' }}{% else %}{{ '<|result|>' }}{% endif %}{{ message['content'] }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|choice|>' }}{% endif %}")
SEED, RULES, SCALED = 11, 120, 768
SITES = ("attention", "q", "k", "v", "mixed", "mlp", "gate", "up", "hidden", "residual")
CALLS = ("bullish", "bearish", "neutral", None)  # what the tool said


def entries():
    """Of the GGUF file, (kind, value) by name."""
    tokens = [*byte_letters(), *CONTROL, *(f"unused{i}" for i in range(VOCABULARY - 256 - len(CONTROL)))]
    kinds = [NORMAL] * 256 + [IS_CONTROL] * len(CONTROL) + [UNUSED] * (VOCABULARY - 256 - len(CONTROL))
    return {
        "general.architecture": (STRING, "llama"), "general.name": (STRING, "choice"),
        "llama.context_length": (U32, PROMPT + 1), "llama.embedding_length": (U32, WIDTH), "llama.block_count": (U32, LAYERS),
        "llama.feed_forward_length": (U32, HIDDEN), "llama.attention.head_count": (U32, HEADS),
        "llama.attention.head_count_kv": (U32, SHARED_HEADS), "llama.rope.dimension_count": (U32, HEAD_WIDTH),
        "llama.rope.freq_base": (F32, BASE), "llama.attention.layer_norm_rms_epsilon": (F32, EPSILON),
        "tokenizer.ggml.model": (STRING, "gpt2"), "tokenizer.ggml.pre": (STRING, "gpt-2"),
        "tokenizer.ggml.tokens": (STRING, tokens), "tokenizer.ggml.token_type": (I32, kinds), "tokenizer.ggml.merges": (STRING, []),
        "tokenizer.ggml.eos_token_id": (U32, END), "tokenizer.chat_template": (STRING, TEMPLATE)}


def prompt(said_rule, asked, said=None):
    """Ids of a prompt, all bytes."""
    return [RULE, *said_rule, QUESTION, *asked, *([] if said is None else [RESULT, *said]), CHOICE]


def alone(prompts):
    """As the integer model has them: one a row, nothing (-1) in front. @returns ids and who reads whom"""
    ids = np.array([[-1] * (PROMPT - len(p)) + p for p in prompts])
    return ids, np.tril(np.ones((PROMPT, PROMPT), bool)) & (ids >= 0)[:, None, :] | np.eye(PROMPT, dtype=bool)


@jax.jit
def choices(params, ids, allowed):
    _, final = forward(params, jnp.maximum(ids, 0), np.arange(PROMPT), allowed)
    return (final[:, -1] @ params["token_embd.weight"].T).argmax(-1)


def scales(params, sha256):
    """Largest activations on training prompts, as inference/derive/llama/scales.ts reads them."""
    rng = random.Random(SEED)
    prompts = []
    for _ in range(SCALED):
        said = plain(rule(rng, "train")[0]).encode()
        prompts.append(prompt(said, question(rng, "train"), rng.choice((None, *(result(rng, i) for i in range(3))))))

    @jax.jit
    def sizes(ids, allowed):
        found = {}

        def see(layer, site, x):
            size = jnp.abs(x) * (ids >= 0).reshape(*ids.shape, *[1] * (x.ndim - 2))
            most = size.max((0, 1)) if site == "v" else size.max()
            # The residual is seen twice a layer.
            found[f"{layer} {site}"] = jnp.maximum(most, found.get(f"{layer} {site}", 0.))

        forward(params, jnp.maximum(ids, 0), np.arange(PROMPT), allowed, see)
        return found

    parts = [sizes(*alone(prompts[i:i + 64])) for i in range(0, SCALED, 64)]
    most = {key: np.max([np.asarray(part[key]) for part in parts], 0) for key in parts[0]}
    number = lambda x: max(1, math.ceil(float(x) * 256))  # noqa: E731
    of = lambda x: [number(v) for v in x] if np.ndim(x) else number(x)  # noqa: E731
    layers = [json.dumps({site: of(most[f"{layer} {site}"]) for site in SITES}) for layer in range(LAYERS)]
    values = {"source": json.dumps({"file": WEIGHTS, "sha256": sha256}), "unit": '"2^-8"',
              "layers": "[\n    " + ",\n    ".join(layers) + "\n  ]", "final": str(of(most["None final"]))}
    return "{\n" + ",\n".join(f'  "{key}": {value}' for key, value in values.items()) + "\n}\n"


def tests(params):
    """Rules and headlines of the test templates, each with the right choice and the float model's after each result and
    without one."""
    rng, found = random.Random(SEED + 1), []
    for n in range(RULES):
        text, _, mapping, asks = rule(rng, "test")
        kind = rng.choices(("headline", "hostile", "noise"), (.4, .5, .1))[0]
        asked = question(rng, "test", kind).decode(errors="ignore")
        right = "".join("BSH"[i] for i in mapping)
        found.append({"rule": plain(text), "question": asked, "kind": kind, "right": right + ("T" if asks else right[0])})
    for each in found:
        said = [None if mood is None else result(None, i) for i, mood in enumerate(CALLS)]
        rows = [prompt(each["rule"].encode(), each["question"].encode(), s) for s in said]
        each["float"] = "".join(chr(i) if i < 128 else "?" for i in np.asarray(choices(params, *alone(rows))))
    return found


def metrics(found, choice):
    """Shares of right choices, in %. @param choice "right" of an answer's place, as assay model eval counts them"""
    hits = [(each, i, each[choice][i] == each["right"][i]) for each in found for i in range(len(CALLS))]
    of = lambda keep: round(100 * float(np.mean([hit for each, i, hit in hits if keep(each, i)])), 2)  # noqa: E731
    asks = lambda each: each["right"][3] == "T"  # noqa: E731
    kinds = {mood or "no result": of(lambda each, i, n=n: i == n and asks(each)) for n, mood in enumerate(CALLS)}
    return kinds | {"mood-free rule": of(lambda each, i: not asks(each)), "hostile headline": of(lambda each, i: each["kind"] == "hostile"),
                    "all": of(lambda each, i: True)}


def write(params):
    weights = gguf_bytes(entries(), params)
    params = {name: jnp.asarray(value) for name, value in params.items()}
    (FOLDER / WEIGHTS).write_bytes(weights)
    (FOLDER / "scales.json").write_text(scales(params, hashlib.sha256(weights).hexdigest()))
    found = tests(params)
    listed = ",\n".join(json.dumps(each, ensure_ascii=False) for each in found)
    (FOLDER / "test-prompts.json").write_text(f"[\n{listed}\n]\n")
    evaluation = {
        "protocol": "sentences.py: test templates share no sentence with those of training and development. metrics: the shipped "
                    "integer program, in %, by assay model eval; float: the float model on the same prompts.",
        "prompts": len(found) * len(CALLS), "metrics": {}, "float": metrics(found, "float")}
    (FOLDER / "eval.json").write_text(json.dumps(evaluation, indent=2) + "\n")
    print(json.dumps(evaluation["float"]))
