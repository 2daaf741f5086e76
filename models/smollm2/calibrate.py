"""Measures how large activations become on calibration.txt and writes scales.json: python calibrate.py

The integer model has one scale a site for all inputs; it must be known before, and be the same for everybody, so the
integers are committed. They are measured in binary64: in binary32, processors disagree about the last digits of the
largest activations, and then about their ceilings."""

import argparse
import json
import math
import os
import time

import numpy as np
from reference import FILE, PACKAGE, SHA256, VERSION, SmolLM2, checked_path

HERE = os.path.dirname(os.path.abspath(__file__))
UNIT = 256  # a scale counts 2^-8
SITES = ("attention", "q", "k", "v", "mixed", "out", "mlp", "gate", "up", "hidden", "down", "residual")
QUESTION = "What is the capital of France?"


def texts_of(path, model):
    """The texts of a calibration file: conversations in the chat's template, and passages without it.

    Texts are separated by a line ====; a line @system, @user or @assistant begins a message, @plain a passage."""
    texts = []
    with open(path, encoding="utf-8") as file:
        blocks = file.read().rstrip("\n").split("\n====\n")
    for block in blocks:
        messages = []
        for line in block.split("\n"):
            if line in ("@system", "@user", "@assistant", "@plain"):
                messages.append({"role": line[1:], "content": []})
            else:
                messages[-1]["content"].append(line)
        messages = [m | {"content": "\n".join(m["content"])} for m in messages]
        texts.append(messages[0]["content"] if messages[0]["role"] == "plain" else model.chat(messages))
    return texts


class Maxima:
    """The largest absolute value of each token at each site, and all of v, which has a scale for each channel."""

    def __init__(self):
        self.tokens, self.v = {}, {}

    def see(self, layer, site, x):
        x = np.abs(x).reshape(len(x), -1)
        # The residual is seen twice a layer, after attention and after the MLP.
        self.tokens[layer, site] = np.maximum(self.tokens.get((layer, site), 0), x.max(1))
        if site == "v":
            self.v[layer] = x


def measure(model, texts):
    """@param texts lists of token ids"""
    maxima = Maxima()
    hidden = model.hidden(texts, maxima.see)
    # In pieces: the scores of all tokens at once would take a gigabyte and a half.
    maxima.tokens[None, "logits"] = np.concatenate(
        [np.abs(model.logits(hidden[n : n + 256])).max(1) for n in range(0, len(hidden), 256)])
    return maxima


def scale(value):
    return max(1, math.ceil(float(value) * UNIT))


def scales(maxima, layers):
    def of(layer, site):
        if site == "v":
            return [scale(value) for value in maxima.v[layer].max(0)]
        return scale(maxima.tokens[layer, site].max())

    return {"source": {"package": PACKAGE, "version": VERSION, "file": FILE, "sha256": SHA256}, "unit": "2^-8",
            "layers": [{site: of(layer, site) for site in SITES} for layer in range(layers)],
            "final": of(None, "final"), "logits": of(None, "logits")}


def text_of_scales(found):
    """JSON with one layer a line, so that a change shows where it is."""
    layers = ",\n".join("    " + json.dumps(layer) for layer in found["layers"])
    values = {key: json.dumps(value) for key, value in found.items()} | {"layers": f"[\n{layers}\n  ]"}
    return "{\n" + ",\n".join(f'  "{key}": {value}' for key, value in values.items()) + "\n}\n"


def report(maxima, layers, texts):
    """Prints the maxima, and those without the first token of each text, which holds most of the largest values."""
    first = np.zeros(sum(map(len, texts)), bool)
    first[np.cumsum([0] + [len(ids) for ids in texts[:-1]])] = True
    shown = ("residual", "hidden", "gate", "up", "mixed", "q", "k", "v")
    print("largest absolute values; in brackets without the first token of each text")
    print("layer " + "".join(f"{site:>22}" if site in shown[:2] else f"{site:>9}" for site in shown))
    for layer in range(layers):
        cells = [f"{layer:5} "]
        for site in shown:
            values = maxima.tokens[layer, site]
            without = f" ({values[~first].max():9.2f})" if site in shown[:2] else ""
            cells.append(f"{values.max():{10 if without else 9}.2f}{without}")
        print("".join(cells))
    for site in ("final", "logits"):
        print(f"{site} {maxima.tokens[None, site].max():.2f}")
    residual = [maxima.tokens[layer, "residual"] for layer in range(layers)]
    massive = [layer for layer, of in enumerate(residual) if of[first].max() > 8 * of[~first].max()]
    print("layers whose residual is over eight times larger at a first token than at all others:", massive)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", help=f"{FILE}; by default the one of the installed package")
    parser.add_argument("--text", default=os.path.join(HERE, "calibration.txt"))
    parser.add_argument("--out", default=os.path.join(HERE, "scales.json"))
    args = parser.parse_args()
    path, began = checked_path(args.model), time.perf_counter()
    model = SmolLM2(path, np.float64)
    print(f"{QUESTION} {model.answer(QUESTION, 24)}")
    texts = [model.ids(text) for text in texts_of(args.text, model)]
    maxima = measure(model, texts)
    report(maxima, model.layers, texts)
    with open(args.out, "w", encoding="utf-8") as file:
        file.write(text_of_scales(scales(maxima, model.layers)))
    print(f"{len(texts)} texts, {sum(map(len, texts))} tokens, {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
