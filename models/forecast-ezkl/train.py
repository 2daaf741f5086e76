"""Fits, exports and measures the float forecast: python train.py [--data DIR] [--test]"""

import json
import sys
import tempfile
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

folder = Path(__file__).resolve().parent
sys.path.insert(0, str(folder.parent / "shared"))

import argparse  # noqa: E402

import series_hourly as sh  # noqa: E402
from series_data import read_hourly, sha256  # noqa: E402

RIDGES = [10, 30, 100, 300, 1000]
UNIT = 64  # the model's numbers are raw values / 64, so that 13 fraction bits make a 16-bit number raw * 128
BITS = 13
CHECKED_WINDOWS = 100
ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of the data sets, seen from the repository's root")
    parser.add_argument("--test", action="store_true", help="also measure the test period; the run is added to eval.json for good")
    args = parser.parse_args()
    path = args.data / "ett" / "ETTh1.csv"
    raw, integer = read_hourly(path, sh.SCALE)
    train = raw[: sh.TRAIN_END]
    mean, std = train.mean(axis=0), train.std(axis=0)
    dev = (integer, raw, mean, std, sh.TRAIN_END, sh.DEV_END)
    test = (integer, raw, mean, std, sh.DEV_END, sh.TEST_END)

    maps = {ridge: with_level(*sh.fit_float(integer, mean, std, ridge, sh.RANK)) for ridge in RIDGES}
    dev_float = {ridge: sh.errors(in_float(*m), *dev)[0] for ridge, m in maps.items()}
    ridge = min(dev_float, key=dev_float.get)
    first, second = maps[ridge]
    model = build(first, second)
    onnx.save(model, folder / "model.onnx")
    network = (quantized(first), quantized(second))
    report = {
        "model": {"sha256": sha256(folder / "model.onnx"), "bytes": (folder / "model.onnx").stat().st_size},
        "task": "ETTh1, horizon 96, one channel a request, input 512 hours",
        "data": {"files": {"ett/ETTh1.csv": sha256(path)}, "licence": "CC BY-ND 4.0"},
        "metric": "as models/forecast-hourly/eval.json: all 2785 test windows, 96 hours, 7 channels, z-scored by train",
        "zscore": {"mean": mean.tolist(), "std": std.tolist()},
        "development": {
            "float_mse_by_ridge": {r: round(v, 5) for r, v in dev_float.items()},
            "fixed_point_mse": round(sh.errors(in_circuit(*network), *dev)[0], 5),
            "chosen": {"ridge": ridge, "rank": sh.RANK, "fraction_bits": BITS},
        },
        "earlier_looks_at_test": "Window length 512 and rank 12 are those of models/forecast-hourly, whose earlier experiments had been measured on the test windows.",
        "circuit_check": check(model, network, integer),
        "seeds": "none: closed form",
        "versions": {p: version(p) for p in ("ezkl", "numpy", "onnx")},
    }
    before = json.loads((folder / "eval.json").read_text()) if (folder / "eval.json").exists() else {}
    report["test_runs"] = before.get("test_runs", [])
    if args.test:
        run = dict(zip(("mse", "mae"), (round(v, 5) for v in sh.errors(in_circuit(*network), *test))))
        floats = dict(zip(("mse", "mae"), (round(v, 5) for v in sh.errors(in_float(first, second), *test))))
        report["test"] = {"windows": len(sh.origins(sh.DEV_END, sh.TEST_END)), **run}
        report["float"] = floats
        report["fixed_point_loss"] = {k: round(run[k] - floats[k], 5) for k in run}
        report["test_runs"].append({"date": date.today().isoformat(), "model_sha256": report["model"]["sha256"], **run})
    elif before.get("model") == report["model"]:
        report |= {k: before[k] for k in ("test", "float", "fixed_point_loss") if k in before}
    (folder / "eval.json").write_text(json.dumps(report, indent=2) + "\n")
    print(json.dumps({k: report.get(k) for k in ("development", "test", "float", "fixed_point_loss", "circuit_check")}))


def with_level(first, second):
    """The window's mean as one more component: x -> (x - mean) first second + mean is one rank-13 map."""
    level = np.full((sh.HOURS, 1), 1 / sh.HOURS)
    return (
        np.concatenate([first - first.mean(axis=0), level], axis=1).astype(np.float32),
        np.concatenate([second, np.ones((1, sh.HORIZON))], axis=0).astype(np.float32),
    )


def build(first, second):
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["window", "first"], ["hidden"]), helper.make_node("MatMul", ["hidden", "second"], ["forecast"])],
        "forecast-ezkl",
        [helper.make_tensor_value_info("window", TensorProto.FLOAT, [1, sh.HOURS])],
        [helper.make_tensor_value_info("forecast", TensorProto.FLOAT, [1, sh.HORIZON])],
        [numpy_helper.from_array(first, "first"), numpy_helper.from_array(second, "second")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    model.producer_name = ""
    onnx.checker.check_model(model)
    return model


def in_float(first, second):
    """Hundredths int64 [n, 512, 7] to hundredths [n, 96, 7] by the float map."""
    matrix = first.astype(np.float64) @ second.astype(np.float64)
    return lambda window: (window.transpose(0, 2, 1) @ matrix).transpose(0, 2, 1)


def quantized(weights):
    return half_away(weights.astype(np.float64) * 2**BITS).astype(np.int64)


def half_away(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


def int16s(window):
    """Calldata's numbers of a window in hundredths: raw / 64 in steps of 2^-13."""
    return half_away(window / sh.SCALE * 2**BITS / UNIT).astype(np.int64)


def fixed_point(x, first, second):
    """What the circuit computes of 16-bit numbers, int64 [..., 512]: int64 [..., 96] with 3 * 13 fraction bits. Nothing is rounded:
    no sum reaches 2^62. check() compares it with ezkl."""
    return x @ first @ second


def in_circuit(first, second):
    return lambda window: fixed_point(int16s(window).transpose(0, 2, 1), first, second).transpose(0, 2, 1) / 2 ** (3 * BITS) * UNIT * sh.SCALE


def check(model, network, integer):
    """Compares fixed_point() with ezkl's own run of the circuit, output for output."""
    import ezkl

    origins = np.linspace(sh.HOURS, sh.TRAIN_END, CHECKED_WINDOWS).astype(int)
    compared = differences = 0
    with tempfile.TemporaryDirectory() as scratch:
        at = lambda name: str(Path(scratch) / name)  # noqa: E731
        onnx.save(model, at("model.onnx"))
        args = ezkl.PyRunArgs()
        args.input_visibility, args.output_visibility, args.param_visibility = "public", "public", "fixed"
        args.input_scale = args.param_scale = BITS
        args.logrows = 15
        args.scale_rebase_multiplier = 1000  # never round
        args.decomp_legs = 4
        ezkl.gen_settings(at("model.onnx"), at("settings.json"), py_run_args=args)
        ezkl.compile_circuit(at("model.onnx"), at("circuit"), at("settings.json"))
        for i, t in enumerate(origins):
            x = int16s(integer[t - sh.HOURS : t, i % sh.CHANNELS])
            Path(at("data.json")).write_text(json.dumps({"input_data": [(x / 2**BITS).tolist()]}))
            witness = ezkl.gen_witness(at("data.json"), at("circuit"), at("witness.json"))
            outputs = [int.from_bytes(bytes.fromhex(e), "little") for e in witness["outputs"][0]]
            signed = np.array([v - ORDER if v > ORDER // 2 else v for v in outputs])
            compared += len(signed)
            differences += int((signed != fixed_point(x, *network)).sum())
    return {"windows": len(origins), "outputs": compared, "differences": differences}


main()
