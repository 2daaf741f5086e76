/** The alert rules applied to what daemons answered, as Prometheus would: a rule that needs a time waits for it, and a
 *  counter's rise is counted over what was seen of it, restarts included. */
import { formatAmount } from "../../base/amounts.ts";
import { ALERT_RULES, type AlertRule } from "../../protocol/service/metrics/alert-rules.ts";
import type { Sample } from "./exposition.ts";

export interface Alert {
  readonly rule: string;
  readonly severity: AlertRule["severity"];
  readonly instance: string;
  /** what has happened */
  readonly text: string;
  /** what to do now */
  readonly next: string;
  readonly command?: string;
  /** where more is said */
  readonly failure: string;
  readonly claim?: string;
  /** ms since 1970 from which it has held */
  readonly sinceMs: number;
}

interface Point {
  readonly atMs: number;
  readonly value: number;
}
/** One value of one rule. */
interface Match {
  readonly rule: AlertRule;
  readonly labels: Sample["labels"];
  readonly value: number;
}

/** Longest that a counter is remembered, by metric, seconds. */
const REMEMBERED = new Map<string, number>();
for (const { metric, rise } of ALERT_RULES)
  if (rise !== undefined) REMEMBERED.set(metric, Math.max(REMEMBERED.get(metric) ?? 0, rise.seconds));

/** What one daemon's metrics say. */
export class InstanceAlerts {
  readonly #instance: string;
  readonly #counters = new Map<string, Point[]>();
  /** since when each match of a rule holds, by rule and labels */
  #since = new Map<string, number>();
  #alerts: Alert[] = [];

  /** @param instance host and port */
  constructor(instance: string) {
    this.#instance = instance;
  }

  /** What holds as of the last answer, for as long as it has to. */
  get alerts(): readonly Alert[] {
    return this.#alerts;
  }

  /** @param samples what it answered; absent: it gave no answer */
  take(atMs: number, samples: readonly Sample[] | undefined): void {
    const up = { name: "up", labels: { job: "assay" }, value: samples === undefined ? 0 : 1 };
    const all = [up, ...(samples ?? [])].map((sample) => ({
      ...sample,
      labels: { ...sample.labels, instance: this.#instance },
    }));
    this.#remember(atMs, all);
    const since = new Map<string, number>();
    this.#alerts = ALERT_RULES.flatMap((rule) => this.#matches(rule, all, atMs)).flatMap((match) => {
      const { rule, labels } = match;
      const key = keyOf(rule.name, labels);
      const sinceMs = this.#since.get(key) ?? atMs;
      since.set(key, sinceMs);
      return atMs - sinceMs >= 1_000 * (rule.forSeconds ?? 0) ? [alertOf(match, sinceMs)] : [];
    });
    this.#since = since;
  }

  #matches(rule: AlertRule, samples: readonly Sample[], atMs: number): Match[] {
    const { metric, where = {}, except = {}, rise, group, of, is, limit } = rule;
    const series = samples.filter(
      ({ name, labels }) =>
        name === metric &&
        Object.entries(where).every(([label, pattern]) =>
          new RegExp(`^(?:${pattern})$`).test(labels[label] ?? ""),
        ) &&
        Object.entries(except).every(([label, value]) => labels[label] !== value),
    );
    const values = series.map((sample) => ({
      labels: sample.labels,
      value: rise === undefined ? sample.value : this.#riseOf(sample, rise, atMs),
    }));
    const grouped = group === undefined ? values : together(values, group);
    return grouped
      .map(({ labels, value }) => ({
        rule,
        labels,
        value: of === "size" ? Math.abs(value) : of === "negative" ? -value : value,
      }))
      .filter(({ value }) => (is === "<" ? value < limit : is === ">" ? value > limit : value === limit));
  }

  #remember(atMs: number, samples: readonly Sample[]): void {
    for (const { name, labels, value } of samples) {
      const seconds = REMEMBERED.get(name);
      if (seconds === undefined) continue;
      const key = keyOf(name, labels);
      const points = (this.#counters.get(key) ?? []).filter((point) => point.atMs >= atMs - 1_000 * seconds);
      this.#counters.set(key, [...points, { atMs, value }]);
    }
  }

  #riseOf(
    { name, labels }: Sample,
    { seconds, perSecond = false }: NonNullable<AlertRule["rise"]>,
    atMs: number,
  ): number {
    const points = (this.#counters.get(keyOf(name, labels)) ?? []).filter(
      (point) => point.atMs >= atMs - 1_000 * seconds,
    );
    let rise = 0;
    for (const [i, { value }] of points.entries()) {
      const before = points[i - 1]?.value ?? value;
      // A counter that fell began anew.
      rise += value < before ? value : value - before;
    }
    return perSecond ? rise / seconds : rise;
  }
}

const keyOf = (name: string, labels: Sample["labels"]): string =>
  JSON.stringify([name, ...Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))]);

/** Series that agree in the instance and some labels, as one. */
function together(
  values: readonly Pick<Match, "labels" | "value">[],
  { by, take }: NonNullable<AlertRule["group"]>,
): Pick<Match, "labels" | "value">[] {
  const groups = new Map<string, Pick<Match, "labels" | "value">>();
  for (const { labels: all, value } of values) {
    const labels = Object.fromEntries(["instance", ...by].map((label) => [label, all[label] ?? ""]));
    const key = keyOf("", labels);
    const known = groups.get(key)?.value;
    const joined = known === undefined ? value : take === "sum" ? known + value : Math.min(known, value);
    groups.set(key, { labels, value: joined });
  }
  return [...groups.values()];
}

/** What a shell takes for one word. An alert's command is copied into one, and a daemon may put anything into its labels. */
const isWord = (label: string | undefined): label is string => /^\w+$/.test(label ?? "");

function alertOf({ rule, labels, value }: Match, sinceMs: number): Alert {
  const fill = (text: string): string =>
    text.replace(/\{(\w+)\}/g, (_all, name: string) =>
      name === "value" ? shown(value, rule.unit) : (labels[name] ?? ""),
    );
  const claim = isWord(labels.claim) ? labels.claim : undefined;
  const filled = [...(rule.command ?? "").matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => labels[name]);
  return {
    rule: rule.name,
    severity: rule.severity,
    instance: labels.instance ?? "",
    text: fill(rule.summary),
    next: rule.next,
    failure: `docs/FAILURES.md#${rule.failure}`,
    ...(rule.command !== undefined && filled.every(isWord) ? { command: fill(rule.command) } : {}),
    ...(claim === undefined ? {} : { claim }),
    sinceMs,
  };
}

function shown(value: number, unit: AlertRule["unit"]): string {
  if (!Number.isFinite(value)) return `${value}`;
  if (unit === "wei") return formatAmount(BigInt(Math.trunc(value)));
  if (unit !== "seconds") return `${Number(value.toPrecision(3))}`;
  const seconds = Math.round(value);
  if (Math.abs(seconds) < 120) return `${seconds} s`;
  return Math.abs(seconds) < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}
