/** What of an eval.json can be drawn. The file comes from whoever made the model: nothing in it is taken for granted. */

export type EvaluationFigure = { readonly title: string; readonly note?: string } & (
  | {
      readonly kind: "confusion";
      readonly classes: readonly string[];
      readonly cells: readonly {
        readonly is: string;
        readonly answered: string;
        readonly count: number;
        readonly share: number;
      }[];
    }
  | {
      readonly kind: "bars";
      readonly unit: string;
      readonly bars: readonly { readonly name: string; readonly value: number; readonly isOwn: boolean }[];
    }
  | {
      readonly kind: "coverage";
      readonly points: readonly { readonly nominal: number; readonly found: number }[];
    }
);

type Json = Readonly<Record<string, unknown>>;
const MAX_CLASSES = 20;
const MAX_BARS = 12;

/** What stands under these names; undefined where there is nothing. */
function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === "object" && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Json)[name]
        : undefined,
    value,
  );
}
const isNumber = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const numbers = (value: unknown): number[] | undefined =>
  Array.isArray(value) && value.every(isNumber) ? value : undefined;
const strings = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.every((each) => typeof each === "string") ? value : undefined;
const entries = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];

/** All figures that an evaluation gives, in the order in which they are read. */
export function figuresOf(evaluation: Json): EvaluationFigure[] {
  return [...confusions(evaluation), ...coverages(evaluation), ...comparisons(evaluation)];
}

function confusions(evaluation: Json): EvaluationFigure[] {
  const classes = strings(at(evaluation, "classes"));
  const valid = at(evaluation, "shipped", "valid");
  const rows = at(valid, "confusion");
  const accuracy = at(valid, "accuracy");
  if (classes === undefined || classes.length > MAX_CLASSES || !Array.isArray(rows)) return [];
  const counts = rows.map(numbers);
  if (counts.length !== classes.length || counts.some((row) => row?.length !== classes.length)) return [];
  const cells = counts.flatMap((row = [], i) => {
    const all = row.reduce((sum, count) => sum + count, 0);
    return row.map((count, j) => ({
      is: classes[i] as string,
      answered: classes[j] as string,
      count,
      share: all === 0 ? 0 : count / all,
    }));
  });
  const note = isNumber(accuracy)
    ? `${accuracy} % of ${at(valid, "texts") ?? "all"} texts that it was not trained on are right`
    : undefined;
  return [
    {
      kind: "confusion",
      title: "What it mistakes for what",
      classes,
      cells,
      ...(note === undefined ? {} : { note }),
    },
  ];
}

/** Levels of the three quantiles that the forecasting models give. */
const LEVELS = [0.1, 0.5, 0.9] as const;

function coverages(evaluation: Json): EvaluationFigure[] {
  const found = numbers(at(evaluation, "test", "coverage"));
  if (found?.length !== LEVELS.length) return [];
  const points = LEVELS.map((nominal, i) => ({ nominal, found: found[i] as number }));
  return [
    {
      kind: "coverage",
      title: "Do its quantiles hold?",
      note: "On the line, as many test days lie below a quantile as it says",
      points,
    },
  ];
}

/** Where a score of the model stands, what it is called, and which field of each baseline compares. */
const SCORES = [
  { path: ["test", "skill"], field: "skill", title: "Pinball skill over unconditional quantiles", unit: "%" },
  { path: ["test", "mse"], field: "mse", title: "Mean squared error (less is better)", unit: "" },
  { path: ["test", "mae"], field: "mae", title: "Mean absolute error (less is better)", unit: "" },
  { path: ["cross-validated", "auc"], field: "auc", title: "Area under the ROC curve", unit: "%" },
] as const;

function comparisons(evaluation: Json): EvaluationFigure[] {
  const scores = SCORES.flatMap(({ path, field, title, unit }): EvaluationFigure[] => {
    const own = at(evaluation, ...path);
    if (!isNumber(own)) return [];
    const others = entries(at(evaluation, "baselines")).flatMap(([name, baseline]) => {
      const value = isNumber(baseline) ? baseline : at(baseline, field);
      return isNumber(value) ? [{ name: name.replaceAll("_", " "), value, isOwn: false }] : [];
    });
    const bars = [{ name: "this model", value: own, isOwn: true }, ...others].slice(0, MAX_BARS);
    return [{ kind: "bars", title, unit, bars }];
  });
  return [...scores, ...accuracies(evaluation), ...metrics(evaluation)];
}

function accuracies(evaluation: Json): EvaluationFigure[] {
  const own = at(evaluation, "shipped", "valid", "accuracy");
  const others = entries(at(evaluation, "baselines_accuracy_macro_f1")).flatMap(([name, pair]) => {
    const value = Array.isArray(pair) ? pair[0] : undefined;
    return isNumber(value) ? [{ name, value, isOwn: false }] : [];
  });
  if (!isNumber(own) || others.length === 0) return [];
  const bars = [{ name: "this model", value: own, isOwn: true }, ...others].slice(0, MAX_BARS);
  return [{ kind: "bars", title: "Accuracy beside others", unit: "%", bars }];
}

function metrics(evaluation: Json): EvaluationFigure[] {
  const found = entries(at(evaluation, "metrics", "test templates")).flatMap(([name, value]) =>
    isNumber(value) && name !== "texts" && value <= 100 ? [{ name, value, isOwn: true }] : [],
  );
  if (found.length === 0) return [];
  return [
    {
      kind: "bars",
      title: "Right on sentences that it was not trained on",
      unit: "%",
      bars: found.slice(0, MAX_BARS),
    },
  ];
}
