"""The classifier of weights.gguf in floats, by NumPy, with the tokenizer of the pretrained package."""

import os
import sys

import gguf
import numpy as np
from scipy.special import erf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../shared"))

from text_teacher import word_pieces

WEIGHTS = "weights.gguf"
ABOUT = ("context_length", "block_count", "attention.head_count", "attention.layer_norm_epsilon")
BATCH = 64


class Classifier:
    """@param kind of all activations; weights are binary32 as the file has them, whatever it is"""

    def __init__(self, folder, kind=np.float32):
        reader = gguf.GGUFReader(os.path.join(folder, WEIGHTS))
        self.kind = kind
        self.tensors = {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(kind) for t in reader.tensors}
        about = {name: reader.fields[f"bert.{name}"].contents() for name in ABOUT}
        self.most, self.layers, self.heads, epsilon = about.values()
        self.epsilon = kind(epsilon)

    def ids(self, texts):
        """Lists of ids, [CLS] and [SEP] included; what is too long is cut."""
        return word_pieces(texts, self.most)

    def _linear(self, x, name):
        return x @ self.tensors[f"{name}.weight"].T + self.tensors[f"{name}.bias"]

    def _norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.epsilon)
        return x * self.tensors[f"{name}.weight"] + self.tensors[f"{name}.bias"]

    def _attend(self, q, k, v):
        """[texts, places, width] each; every place reads all places of its text."""
        q, k, v = (x.reshape(*x.shape[:2], self.heads, -1).swapaxes(1, 2) for x in (q, k, v))
        scores = q @ k.swapaxes(2, 3) / self.kind(np.sqrt(q.shape[-1]))
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = shares / shares.sum(-1, keepdims=True) @ v
        return mixed.swapaxes(1, 2).reshape(*mixed.shape[::2], -1)

    def _logits(self, ids, see):
        """@param ids [texts, places], none of them padding"""
        x = self.tensors["token_embd.weight"][ids] + self.tensors["position_embd.weight"][:ids.shape[1]]
        see(None, "sum", x)
        x = self._norm(x, "token_embd_norm")
        for layer in range(self.layers):
            def seen(site, value, layer=layer):
                see(layer, site, value)
                return value

            name = f"blk.{layer}."
            mixed = self._attend(*(seen(of, self._linear(x, f"{name}attn_{of}")) for of in "qkv"))
            x = seen("attention sum", x + self._linear(mixed, name + "attn_output"))
            x = self._norm(x, name + "attn_output_norm")
            up = seen("up", self._linear(x, name + "ffn_up"))
            hidden = up * (1 + erf(up / self.kind(np.sqrt(2)))) / 2
            x = seen("feed-forward sum", x + self._linear(hidden, name + "ffn_down"))
            x = self._norm(x, name + "layer_output_norm")
        return self._linear(x[:, 0], "cls.output")

    def logits(self, ids, see=lambda layer, site, x: None):
        """[texts, classes]. Texts of one length are computed together. @param ids lists, as `ids` gives them
        @param see gets activations [texts, places, width] at each site; layer is None in front of the first one"""
        found = np.zeros((len(ids), len(self.tensors["cls.output.bias"])), self.kind)
        lengths = np.array([len(each) for each in ids])
        for length in np.unique(lengths):
            at = np.flatnonzero(lengths == length)
            for rows in np.split(at, range(BATCH, len(at), BATCH)):
                found[rows] = self._logits(np.array([ids[n] for n in rows]), see)
        return found
