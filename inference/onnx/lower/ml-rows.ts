/** The rows of the domain ai.onnx.ml: trees, and what prepares their features. */

import { treeEnsemble, treeEnsembleClassifier, treeEnsembleRegressor, zipMap } from "../trees/lower.ts";
import {
  arrayFeatureExtractor,
  binarizer,
  featureVectorizer,
  imputer,
  labelEncoder,
  oneHotEncoder,
  scaler,
} from "./features.ts";
import type { OperatorRow } from "./operator-row.ts";

export const ML_ROWS: readonly OperatorRow[] = [
  {
    operators: {
      "ai.onnx.ml.TreeEnsembleClassifier": treeEnsembleClassifier,
      "ai.onnx.ml.TreeEnsembleRegressor": treeEnsembleRegressor,
      "ai.onnx.ml.TreeEnsemble": treeEnsemble,
      "ai.onnx.ml.ZipMap": zipMap,
    },
    reads:
      "one row or [rows, features] of float32 or integers; all BRANCH_ modes, sets of members as well; SUM and AVERAGE; NONE, LOGISTIC, SOFTMAX. The label of a classifier, words as their places; a ZipMap is its scores. Comparisons are exact, leaves in fixed point by a scale and with a bound that import prints (below)",
    limits:
      "2^17 leaves, a table of 16 MB; two classes have weights for the first alone, as the exporters write them; no MIN, MAX, SOFTMAX_ZERO, PROBIT; numbers of binary64 are refused",
    opcodes: ["move", "arith", "float", "reduce", "lookup", "requant", "dot", "select"],
    exactness: "within the printed bound",
  },
  {
    operators: {
      "ai.onnx.ml.ArrayFeatureExtractor": arrayFeatureExtractor,
      "ai.onnx.ml.Binarizer": binarizer,
      "ai.onnx.ml.FeatureVectorizer": featureVectorizer,
      "ai.onnx.ml.Imputer": imputer,
      "ai.onnx.ml.LabelEncoder": labelEncoder,
      "ai.onnx.ml.OneHotEncoder": oneHotEncoder,
      "ai.onnx.ml.Scaler": scaler,
    },
    reads:
      "float32 and integers. Scaler `(x − offset)·scale`; LabelEncoder between int64 and float32, the first of equal keys; OneHotEncoder of int64 categories; Imputer of one number, of NaN nothing, as no codec gives it",
    limits: "no words; columns constant",
    opcodes: ["move", "float", "arith", "select", "reduce", "lookup"],
    exactness: "exact",
  },
];
