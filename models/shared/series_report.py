"""Command line, eval.json and checks that the forecast models share."""

import argparse
import json
import platform
import re
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx

from series_data import sha256
from series_program import describe, evaluate, prove, run_onnxruntime

PACKAGES = ["numpy", "jax", "jaxlib", "optax", "onnx", "onnxruntime"]


def arguments(doc):
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder that holds the data sets; the default is seen from the repository's root")
    parser.add_argument("--test", action="store_true", help="also measure the test period; the run is added to eval.json for good")
    return parser.parse_args()


def versions(packages=PACKAGES):
    return {"python": platform.python_version(), **{p: version(p) for p in packages}}


def save_model(model, folder, ranges):
    """Writes model.onnx after proving it; returns the part of eval.json about the graph."""
    bounds, compared = prove(model, ranges)
    path = folder / "model.onnx"
    onnx.save(model, path)
    return {
        "sha256": sha256(path),
        "bytes": path.stat().st_size,
        "nodes": describe(model),
        "proven_ranges": {k: list(v) for k, v in bounds.items()},
        "requantization_accumulators_compared": compared,
    }


def compare(model, folder, name, inputs, fast):
    """Elements of all inputs on which onnxruntime, the graph in 64-bit integers and `fast` (the training code's own) differ."""
    inputs = np.asarray(inputs, dtype=np.int32)
    runtime = run_onnxruntime(folder / "model.onnx", name, inputs)
    output = model.graph.output[0].name
    exact = np.stack([evaluate(model, {name: x})[output] for x in inputs])
    return {
        "inputs": len(inputs),
        "elements": int(exact.size),
        "onnxruntime_differences": int((runtime != exact).sum()),
        "training_code_differences": int((np.asarray(fast) != exact).sum()),
    }


TEST_KEYS = ["exactness", "test", "baselines", "test_against_other_references"]


def write_eval(folder, report, run=None):
    """Writes eval.json. Test runs on record stay; without a new `run` so do the results, if the model file is the same."""
    path = folder / "eval.json"
    before = json.loads(path.read_text()) if path.exists() else {}
    if run is None and before.get("model", {}).get("sha256") == report["model"]["sha256"]:
        report |= {k: before[k] for k in TEST_KEYS if k in before}
    report["test_runs"] = before.get("test_runs", [])
    if run is not None:
        report["test_runs"].append({"date": date.today().isoformat(), "model_sha256": report["model"]["sha256"], **run})
    text = json.dumps(report, indent=2, default=lambda v: v.tolist())
    # Short lists of numbers on one line.
    text = re.sub(r"\[[-\d.,\s]+\]", lambda m: re.sub(r"\s+", " ", m[0]).replace("[ ", "[").replace(" ]", "]"), text)
    path.write_text(text + "\n")


def rounded(value, digits=4):
    if isinstance(value, dict):
        return {k: rounded(v, digits) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [rounded(v, digits) for v in value]
    return round(float(value), digits)
