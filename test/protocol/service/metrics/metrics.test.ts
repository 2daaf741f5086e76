import { describe, expect, test } from "vitest";
import { Metrics } from "../../../../protocol/service/metrics/metrics.ts";
import { parseExposition } from "../../../support/exposition.ts";

describe("Metrics", () => {
  test("default: counters, gauges and histograms as Prometheus reads them", async () => {
    const metrics = new Metrics();
    const known = [{ verdict: "right" }, { verdict: "wrong" }];
    const checked = metrics.counter("checked_total", "Claims.", ["verdict"], known);
    checked.inc({ verdict: "wrong" });
    checked.inc({ verdict: "wrong" }, 2);
    metrics.gauge("exposure_wei", "Bonds.", () => 10n ** 19n);
    const spread = metrics.histogram("seconds", "Time.", ["kind"], [0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 7]) spread.observe({ kind: "claim" }, value);
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
      seconds_bucket{le="0.1",kind="claim"} 2
      seconds_bucket{le="1",kind="claim"} 3
      seconds_bucket{le="+Inf",kind="claim"} 4
      seconds_sum{kind="claim"} 7.65
      seconds_count{kind="claim"} 4
      "
    `);
    expect(metrics.families.map(({ name }) => name)).toEqual(["checked_total", "exposure_wei", "seconds"]);
  });

  test("behavior: quotes, lines and backslashes of a label stay inside it", async () => {
    const metrics = new Metrics();
    const hostile = '"} 1\nforged_total{x="\\';
    metrics.counter("honest_total", "a\nforged 1", ["by"]).inc({ by: hostile });
    const text = await metrics.render();
    const samples = parseExposition(text);
    expect([...samples.keys()]).toEqual([`honest_total{by=${JSON.stringify(hostile)}}`]);
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

  test("behavior: callers who come at once share one look", async () => {
    let readings = 0;
    const metrics = new Metrics();
    metrics.gauges({ first: "One.", second: "Two." }, async () => ({ first: ++readings, second: 0 }));
    await Promise.all([metrics.render(), metrics.render()]);
    expect(readings).toBe(1);
    expect(parseExposition(await metrics.render()).get("first")).toBe(2);
  });

  test("behavior: what was shown and is not known any more goes away", async () => {
    let claims = ["a", "b"];
    const metrics = new Metrics();
    const read = () => claims.map((claim) => ({ labels: { claim }, value: 1n }));
    metrics.gauge("left_seconds", "Time left.", read, ["claim"]);
    expect(parseExposition(await metrics.render()).size).toBe(2);
    claims = ["b"];
    expect([...parseExposition(await metrics.render()).keys()]).toEqual(['left_seconds{claim="b"}']);
  });

  test("behavior: the process shows its memory", async () => {
    const metrics = new Metrics();
    metrics.addProcess();
    const samples = parseExposition(await metrics.render());
    expect(samples.get("process_resident_memory_bytes")).toBeGreaterThan(1_000_000);
  });

  test.each(["with space", "1st", "", "a-b"])("error: the name %j", (name) => {
    expect(() => new Metrics().counter(name, "Some.")).toThrow("name");
  });

  test("error: a name twice", () => {
    const metrics = new Metrics();
    metrics.counter("one_total", "Some.");
    expect(() => metrics.gauge("one_total", "Some.", () => 1)).toThrow("already been registered");
  });
});
