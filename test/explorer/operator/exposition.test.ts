import { describe, expect, it } from "vitest";
import { parseExposition } from "../../../explorer/operator/exposition.ts";
import { Metrics } from "../../../protocol/service/metrics/metrics.ts";
import { parseExposition as strict } from "../../support/exposition.ts";

describe("parseExposition", () => {
  it("default: everything that the daemons' own metrics write, whatever stands in a label", async () => {
    const metrics = new Metrics();
    const hostile = 'a "quoted" \\ back\\nslash\nline }, {b="c"} 1';
    metrics.gauge("assay_one", "One.", () => [{ labels: { name: hostile, other: "" }, value: -2.5 }], [
      "name",
      "other",
    ]);
    metrics.gauge("assay_wei", "Wei.", () => 10n ** 17n);
    metrics.histogram("assay_seconds", "Seconds.", ["route"]).observe({ route: "/v1/claims/:id" }, 0.3);
    metrics.addProcess();
    const text = await metrics.render();
    const samples = parseExposition(text);
    expect(samples).toContainEqual({ name: "assay_one", labels: { name: hostile, other: "" }, value: -2.5 });
    expect(samples).toContainEqual({ name: "assay_wei", labels: {}, value: 1e17 });
    // The strict reader of the tests sees as many, with the same values.
    expect(samples.map(({ value }) => value)).toEqual([...strict(text).values()]);
    expect(samples.length).toBeGreaterThan(30);
  });

  it("behavior: times after values and special numbers are read", () => {
    expect(parseExposition('a{b="c"} +Inf 1700000000000\n# HELP d e\nd NaN\n\n')).toEqual([
      { name: "a", labels: { b: "c" }, value: Number.POSITIVE_INFINITY },
      { name: "d", labels: {}, value: Number.NaN },
    ]);
  });

  it.each(["<html>", "a", "a one", "a constructor", 'a{b="c} 1', 'a{b=c"} 1', "1a 2", 'a{b="\\x"} 1'])(
    "error: %s is no sample",
    (line) => {
      expect(() => parseExposition(`up 1\n${line}\n`)).toThrow(
        expect.objectContaining({
          code: "METRICS_INVALID",
          shortMessage: expect.stringContaining("no sample"),
        }),
      );
    },
  );
});
