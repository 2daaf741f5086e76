"""Augmented texts for distillation: splices, crops and word-level noise on the texts of a train set."""
import re

import numpy as np

WORD = re.compile(r"[A-Za-z][A-Za-z'\-]*|\$[A-Za-z.]+|[\d.,]*\d%?|\S")
SUFFIX = re.compile(r"^[a-z]+$")


def neighbours(words, pieces, count):
    """For each word its `count` nearest by cosine of the mean word-piece embedding."""
    vectors = np.stack([words[p].mean(0) if len(p) else np.zeros(words.shape[1]) for p in pieces]).astype(np.float32)
    vectors -= vectors.mean(0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) + 1e-9
    out = []
    for at in range(0, len(vectors), 1024):
        near = vectors[at:at + 1024] @ vectors.T
        near[np.arange(len(near)), at + np.arange(len(near))] = -1
        out.append(np.argpartition(-near, count, 1)[:, :count])
    return np.concatenate(out)


class Augmenter:
    """Splices of two texts (25 %), crops of 3 to 13 words (15 %), else substitutions, deletions and swaps.

    @param extra words that may be substituted although no text holds them
    """

    def __init__(self, texts, words, piece_ids, seed, near=15, least=2, extra=()):
        self.rng = np.random.default_rng(seed)
        self.tokens = [t.split() for t in texts]
        count = {}
        for tokens in self.tokens:
            for token in tokens:
                core = token.strip(".,:;!?\"'()").lower()
                if SUFFIX.match(core):
                    count[core] = count.get(core, 0) + 1
        vocabulary = sorted({w for w, c in count.items() if c >= least and len(w) > 1}.union(extra))
        self.index = {w: n for n, w in enumerate(vocabulary)}
        self.near = [[vocabulary[m] for m in row] for row in neighbours(words, piece_ids(vocabulary), near)]
        self.tickers = sorted({t for tokens in self.tokens for t in tokens if re.fullmatch(r"\$[A-Z.]{1,5}", t)}) or ["$SPY"]
        self.numbers = sorted({t for tokens in self.tokens for t in tokens if re.fullmatch(r"[$+-]?\d[\d.,]*[%MB]?", t)}) or ["10"]

    def _noise(self, tokens):
        rng, out = self.rng, []
        p, gone, swap = rng.uniform(.1, .45), rng.uniform(0, .1), rng.uniform(0, .6)
        for token in tokens:
            r = rng.random(3)
            if r[0] < gone and len(tokens) > 3:
                continue
            if token.startswith("$") and token[1:].isupper() and r[1] < swap:
                token = self.tickers[rng.integers(len(self.tickers))]
            elif token[-1:].isdigit() and r[1] < swap or token[-1:] in "%MB" and token[-2:-1].isdigit() and r[1] < swap:
                token = self.numbers[rng.integers(len(self.numbers))]
            elif r[2] < p:
                core = token.strip(".,:;!?\"'()")
                found = self.index.get(core.lower())
                if found is not None and core:
                    other = self.near[found][rng.integers(len(self.near[found]))]
                    token = token.replace(core, other.capitalize() if core[0].isupper() else other)
            out.append(token)
        return out

    def one(self, n):
        rng, tokens = self.rng, self.tokens[n]
        kind = rng.random()
        if kind < .25:
            other = self.tokens[rng.integers(len(self.tokens))]
            out = tokens[:rng.integers(1, len(tokens) + 1)] + other[rng.integers(0, len(other)):] if tokens and other else tokens
            if rng.random() < .5:
                out = self._noise(out)
        elif kind < .4 and len(tokens) > 3:
            size = int(rng.integers(3, 14))
            at = int(rng.integers(0, max(1, len(tokens) - size + 1)))
            out = tokens[at:at + size]
        else:
            out = self._noise(tokens)
        return " ".join(out) or "."
