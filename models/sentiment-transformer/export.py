"""Files of models/sentiment-transformer: the weights, and how large activations become.

    python export.py --data DIR    # scales.json again, from the weights that are there
"""

import argparse
import hashlib
import json
import math
import os
import sys

import numpy as np
from reference import WEIGHTS, Classifier

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../shared"))

from gguf_file import BOOL, F32, I32, STRING, TENSOR_Q8_0, U32, gguf_bytes
from text_data import read_tweets
from text_teacher import HEADS, LAYERS, WIDTH, pretrained_dir

HERE = os.path.dirname(os.path.abspath(__file__))
MOST = 48  # ids of a text
EPSILON = 1e-12
CLASSES = ["bearish", "neutral", "bullish"]
NORMAL, IS_CONTROL = 1, 3
FIRST_TOKEN = 2  # llama.cpp's number of the pooling that reads [CLS]
SPECIAL = {"cls": "cls_token_id", "sep": "seperator_token_id", "unk": "unknown_token_id", "pad": "padding_token_id",
           "mask": "mask_token_id"}  # the spelling of "seperator" is GGUF's
# By what text_teacher calls them; `o` and `n1` follow attention, `n2` ends the layer.
MATRICES = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "up": "ffn_up", "down": "ffn_down"}
NORMS = {"n1": "attn_output_norm", "n2": "layer_output_norm"}
SCALE_SEED, SCALED = 1, 2000
SITES = ("q", "k", "v", "up")


def piece(token):
    """A piece as llama.cpp's files have it: a mark in front of what begins a word, none in front of what does not."""
    if token.startswith("[") and token.endswith("]"):
        return token
    return token[2:] if token.startswith("##") else "\u2581" + token


def vocabulary_of_package():
    """Ids by token."""
    with open(os.path.join(pretrained_dir(), "tokenizer.json"), encoding="utf-8") as file:
        return json.load(file)["model"]["vocab"]


def entries(vocabulary, hidden):
    """Of the GGUF file, (kind, value) by name. @param vocabulary ids by token"""
    tokens = sorted(vocabulary, key=vocabulary.get)
    control = {f"[{name.upper()}]" for name in SPECIAL}
    return {
        "general.architecture": (STRING, "bert"), "general.name": (STRING, "sentiment-transformer"),
        "bert.context_length": (U32, MOST), "bert.embedding_length": (U32, WIDTH), "bert.block_count": (U32, LAYERS),
        "bert.feed_forward_length": (U32, hidden), "bert.attention.head_count": (U32, HEADS),
        "bert.attention.layer_norm_epsilon": (F32, EPSILON), "bert.attention.causal": (BOOL, False),
        "bert.pooling_type": (U32, FIRST_TOKEN), "bert.classifier.output_labels": (STRING, CLASSES),
        "tokenizer.ggml.model": (STRING, "bert"), "tokenizer.ggml.tokens": (STRING, [piece(t) for t in tokens]),
        "tokenizer.ggml.token_type": (I32, [IS_CONTROL if t in control else NORMAL for t in tokens]),
        **{f"tokenizer.ggml.{key}": (U32, vocabulary[f"[{name.upper()}]"]) for name, key in SPECIAL.items()}}


def tensors(words, params):
    """By the tensors' names in the file, outermost dimension first. Positions hold the type of the text already."""
    found = {"token_embd.weight": words, "position_embd.weight": params["position"][:MOST]}

    def norm(name, p):
        found[f"{name}.weight"], found[f"{name}.bias"] = p["g"], p["b"]

    def dense(name, p):
        found[f"{name}.weight"], found[f"{name}.bias"] = p["w"].T, p["b"]

    norm("token_embd_norm", params["norm"])
    for n, layer in enumerate(params["layers"]):
        for own, name in MATRICES.items():
            dense(f"blk.{n}.{name}", layer[own])
        for own, name in NORMS.items():
            norm(f"blk.{n}.{name}", layer[own])
    dense("cls.output", params["head"])
    return found


def write_weights(folder, words, params):
    about = entries(vocabulary_of_package(), params["layers"][0]["up"]["w"].shape[1])
    with open(os.path.join(folder, WEIGHTS), "wb") as file:
        file.write(gguf_bytes(about, tensors(words, params), TENSOR_Q8_0))


def largest(folder, texts):
    """Largest activations by layer and site, of v by channel. In binary64: in binary32, processors disagree about the
    last digits, and then about their ceilings."""
    model, found = Classifier(folder, np.float64), {}

    def see(layer, site, x):
        most = np.abs(x).max((0, 1) if site == "v" else None)
        found[layer, site] = np.maximum(most, found.get((layer, site), 0))

    model.logits(model.ids(texts), see)
    return found


def scaled(x):
    return [scaled(each) for each in x] if np.ndim(x) else max(1, math.ceil(float(x) * 256))


def write_scales(folder, texts):
    """scales.json: largest queries, keys, values and first feed-forward products on some of the texts, in whole 2^-8,
    rounded up."""
    rng = np.random.default_rng(SCALE_SEED)
    found = largest(folder, [texts[n] for n in rng.permutation(len(texts))[:SCALED]])
    layers = [json.dumps({site: scaled(found[layer, site]) for site in SITES}) for layer in range(LAYERS)]
    with open(os.path.join(folder, WEIGHTS), "rb") as file:
        source = {"file": WEIGHTS, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    values = {"source": json.dumps(source), "unit": '"2^-8"', "layers": "[\n    " + ",\n    ".join(layers) + "\n  ]"}
    with open(os.path.join(folder, "scales.json"), "w", encoding="utf-8") as file:
        file.write("{\n" + ",\n".join(f'  "{key}": {value}' for key, value in values.items()) + "\n}\n")
    for (layer, site), most in found.items():
        if site.endswith("sum"):
            print(f"largest number in front of a norm: layer {layer}, {site}: {most:.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.path.join(HERE, "../../../shared/data"))
    parser.add_argument("--out", default=HERE)
    args = parser.parse_args()
    texts, _ = read_tweets(os.path.join(args.data, "twitter_financial_news/sent_train.csv"))
    write_scales(args.out, texts)


if __name__ == "__main__":
    main()
