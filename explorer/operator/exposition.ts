/** Metrics in Prometheus's text form, as daemons answer GET /metrics. */
import { BaseError } from "../../base/errors.ts";

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"/;
const SAMPLE = new RegExp(`^([a-zA-Z_:][\\w:]*)(?:\\{((?:${LABEL.source},?)*)\\})? (\\S+)(?: \\d+)?$`);
/** Written in any case. */
const SPECIAL: ReadonlyMap<string, number> = new Map([
  ["inf", Number.POSITIVE_INFINITY],
  ["+inf", Number.POSITIVE_INFINITY],
  ["-inf", Number.NEGATIVE_INFINITY],
  ["nan", Number.NaN],
]);
const ESCAPED: Readonly<Record<string, string>> = { "\\n": "\n", '\\"': '"', "\\\\": "\\" };

/** @throws BaseError METRICS_INVALID naming the first line that is no sample */
export function parseExposition(text: string): Sample[] {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const [, name, labels = "", , , written = ""] = SAMPLE.exec(line) ?? [];
    const special = SPECIAL.get(written.toLowerCase());
    const value = special ?? Number(written);
    if (name === undefined || (special === undefined && Number.isNaN(value))) throw invalid(line);
    return { name, labels: labelsOf(labels), value };
  });
}

const labelsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(new RegExp(LABEL, "g"))].map(([, name = "", value = ""]) => [
      name,
      value.replace(/\\["\\n]/g, (escaped) => ESCAPED[escaped] as string),
    ]),
  );

const invalid = (line: string): BaseError =>
  new BaseError({
    code: "METRICS_INVALID",
    shortMessage: `${JSON.stringify(line.slice(0, 120))} is no sample of Prometheus's text form.`,
    nextStep: "See that --watch names a daemon of this program.",
  });
