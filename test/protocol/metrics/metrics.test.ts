import { describe, expect, test } from "vitest";
import { Metrics } from "../../../protocol/metrics/metrics.ts";
import { parseExposition } from "../../support/exposition.ts";

describe("Metrics", () => {
  test("default: counters, gauges and histograms as Prometheus reads them", async () => {
    const metrics = new Metrics();
    const checked = metrics.counter("checked_total", "Claims.", [{ verdict: "right" }, { verdict: "wrong" }]);
    checked.add({ verdict: "wrong" });
    checked.add({ verdict: "wrong" }, 2);
    metrics.gauge("exposure_wei", "Bonds.", () => 10n ** 19n);
    const spread = metrics.histogram("seconds", "Time.", [0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 7]) spread.observe(value, { kind: "claim" });
    expect(await metrics.render()).toMatchInlineSnapshot(`
      "# HELP checked_total Claims.
      # TYPE checked_total counter
      checked_total{verdict="right"} 0
      checked_total{verdict="wrong"} 3
      # HELP exposure_wei Bonds.
      # TYPE exposure_wei gauge
      exposure_wei 10000000000000000000
      # HELP seconds Time.
      # TYPE seconds histogram
      seconds_bucket{kind="claim",le="0.1"} 2
      seconds_bucket{kind="claim",le="1"} 3
      seconds_bucket{kind="claim",le="+Inf"} 4
      seconds_sum{kind="claim"} 7.65
      seconds_count{kind="claim"} 4
      "
    `);
    expect(metrics.families.map(({ name }) => name)).toEqual(["checked_total", "exposure_wei", "seconds"]);
  });

  test("behavior: quotes, lines and backslashes of a label stay inside it", async () => {
    const metrics = new Metrics();
    const hostile = '"} 1\nforged_total{x="\\';
    metrics.counter("honest_total", "a\nforged 1").add({ by: hostile });
    const text = await metrics.render();
    const samples = parseExposition(text);
    expect([...samples.keys()]).toEqual(["honest_total", `honest_total{by=${JSON.stringify(hostile)}}`]);
  });

  test("behavior: what cannot be read is left out, the rest is there", async () => {
    const metrics = new Metrics();
    metrics.gauge("broken", "Throws.", () => {
      throw new Error("no");
    });
    metrics.gauges({ gone: "Fails.", missing: "Fails too." }, () => Promise.reject(new Error("no")));
    metrics.gauge("unknown", "Not known yet.", () => undefined);
    metrics.gauge("whole", "Is there.", () => 3);
    expect([...parseExposition(await metrics.render())]).toEqual([["whole", 3]]);
  });

  test.each(["Upper", "with space", "1st", "", "a-b"])("error: the name %j", (name) => {
    expect(() => new Metrics().counter(name, "")).toThrow(RangeError);
  });

  test("error: a name twice", () => {
    const metrics = new Metrics();
    metrics.counter("one_total", "");
    expect(() => metrics.gauge("one_total", "", () => 1)).toThrow("defined twice");
  });
});
