"""Reading the text data sets, and the ids that the text codec gives them."""
import base64
import csv
import hashlib
import os
import re
import subprocess

import numpy as np

URL = re.compile(r"https?://\S+")
HERE = os.path.dirname(os.path.abspath(__file__))


def without_urls(text):
    """The rule by which duplicates are found: URLs removed, ends trimmed, nothing else changed."""
    return URL.sub("", text).strip()


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def read_tweets(path):
    """Texts and labels, 0 bearish, 1 neutral, 2 bullish (the file has 0 bearish, 1 bullish, 2 neutral)."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [r["text"] for r in rows], np.array([(0, 2, 1)[int(r["label"])] for r in rows])


def drop_duplicates(texts, labels, of):
    """Drops the texts that equal one of `of` once URLs are removed."""
    known = {without_urls(t) for t in of}
    keep = [n for n, t in enumerate(texts) if without_urls(t) not in known]
    return [texts[n] for n in keep], labels[keep]


def text_ids(texts, tokens, grams, rows):
    """Ids [texts, tokens, 1 + grams] from the one definition of the codec, inference/codecs/text.ts."""
    lines = "\n".join(base64.b64encode(t.encode()).decode() for t in texts) + "\n"
    command = ["npx", "tsx", os.path.join(HERE, "text-ids.ts"), str(tokens), str(grams), str(rows)]
    out = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True, cwd=os.path.join(HERE, "../.."))
    return np.frombuffer(out.stdout, "<i4").reshape(len(texts), tokens, 1 + grams)
