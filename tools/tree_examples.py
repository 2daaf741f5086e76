"""Writes test/vectors/trees: small tree ensembles as scikit-learn (skl2onnx), XGBoost and LightGBM (onnxmltools) export
them, and in expected.json what the libraries themselves predict on some rows.

    python3 -m venv venv && venv/bin/pip install numpy==2.4.6 onnx==1.23.2 scikit-learn==1.9.1 skl2onnx==1.20.0 \\
        xgboost-cpu==3.2.0 lightgbm==4.7.0 onnxmltools==1.16.0
    venv/bin/python tools/tree_examples.py
"""

import json
import warnings
from pathlib import Path

import lightgbm
import numpy as np
import onnx
import xgboost
from onnxmltools import convert_lightgbm, convert_xgboost
from onnxmltools.convert.common.data_types import FloatTensorType
from skl2onnx import to_onnx
from sklearn.datasets import make_classification
from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor, RandomForestClassifier
from sklearn.tree import DecisionTreeRegressor

warnings.filterwarnings("ignore")
FOLDER = Path(__file__).resolve().parent.parent / "test" / "vectors" / "trees"
FEATURES = 6
x, y = make_classification(300, FEATURES, n_informative=5, n_redundant=0, n_classes=3, random_state=1)
x = x.astype(np.float32)
two, real, words = (y > 0).astype(int), x[:, 0] * 3 + x[:, 1], np.array(["low", "mid", "high"])[y]
inputs = [("input", FloatTensorType([None, FEATURES]))]


def sklearn(model, target, zipmap=False):
    model.fit(x, target)
    is_classifier = hasattr(model, "predict_proba")
    return model, to_onnx(model, x[:1], options={id(model): {"zipmap": zipmap}} if is_classifier else None)


def xgb(model, target):
    return model, convert_xgboost(model.fit(x, target), initial_types=inputs)


def lgb(model, target, **options):
    return model, convert_lightgbm(model.fit(x, target), initial_types=inputs, **options)


MODELS = {
    "sklearn-tree": lambda: sklearn(DecisionTreeRegressor(max_depth=4, random_state=0), real),
    "sklearn-forest": lambda: sklearn(RandomForestClassifier(6, max_depth=3, random_state=0), words),
    "sklearn-forest-zipmap": lambda: sklearn(RandomForestClassifier(4, max_depth=3, random_state=0), two, True),
    "sklearn-boosting": lambda: sklearn(GradientBoostingClassifier(n_estimators=4, random_state=0), y),
    "sklearn-boosting-regressor": lambda: sklearn(GradientBoostingRegressor(n_estimators=6, random_state=0), real),
    "xgboost": lambda: xgb(xgboost.XGBClassifier(n_estimators=6, max_depth=3), two),
    "xgboost-classes": lambda: xgb(xgboost.XGBClassifier(n_estimators=3, max_depth=3), y),
    "xgboost-regressor": lambda: xgb(xgboost.XGBRegressor(n_estimators=6, max_depth=3), real),
    "lightgbm": lambda: lgb(lightgbm.LGBMClassifier(n_estimators=6, num_leaves=7, verbose=-1), two),
    "lightgbm-classes": lambda: lgb(lightgbm.LGBMClassifier(n_estimators=3, num_leaves=7, verbose=-1), y, zipmap=False),
    "lightgbm-regressor": lambda: lgb(lightgbm.LGBMRegressor(n_estimators=6, num_leaves=7, verbose=-1), real),
}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    rows = x[:20]
    expected = {"rows": [[float(v) for v in row] for row in rows], "models": {}}
    for name, make in MODELS.items():
        model, file = make()
        file.doc_string = ""
        onnx.save(file, FOLDER / f"{name}.onnx")
        outputs = [output.name for output in file.graph.output]
        found = {}
        if len(outputs) == 2:
            found[outputs[0]] = model.predict(rows).tolist()
            found[outputs[1]] = np.asarray(model.predict_proba(rows), float).tolist()
        else:
            found[outputs[0]] = [[float(v)] for v in model.predict(rows)]
        expected["models"][name] = found
    (FOLDER / "expected.json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
