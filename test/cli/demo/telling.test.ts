import { resolve } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { findLocalModel } from "../../../cli/demo/local-model.ts";
import { plainStep } from "../../../cli/demo/steps.ts";
import { Timeline } from "../../../cli/demo/timeline.ts";
import type { RequestId } from "../../../protocol/rules/types.ts";

const id = `0x${"ab".repeat(32)}` as RequestId;

function timeline() {
  const lines: string[] = [];
  const stepOf = () => ({ opcode: "dot", type: "s32" }) as const;
  const made = new Timeline({ startMs: 0, names: new Map(), stepOf, print: (line) => lines.push(line) });
  return { made, lines };
}

describe("Timeline", () => {
  afterEach(() => void vi.useRealTimers());

  it("default: after five silent seconds it says what is waited for, and again", async () => {
    vi.useFakeTimers({ now: 0 });
    const { made, lines } = timeline();
    let finish: (value: string) => void = () => {};
    const work = new Promise<string>((resolveWork) => {
      finish = resolveWork;
    });
    let open = "headline 1, headline 2";
    const during = made.during(() => `waiting for ${open}`, work);
    await vi.advanceTimersByTimeAsync(4_900);
    expect(lines).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    open = "headline 2";
    made.log("something happened");
    await vi.advanceTimersByTimeAsync(41_000);
    expect(lines[0]).toBe("   5.0 s  still waiting for headline 1, headline 2");
    expect(lines[1]).toContain("something happened");
    expect(lines.slice(2).every((line) => line.endsWith("still waiting for headline 2"))).toBe(true);
    expect(lines.length).toBeGreaterThanOrEqual(9);
    finish("done");
    expect(await during).toBe("done");
    const count = lines.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lines).toHaveLength(count);
  });

  it("behavior: a question in a lane is named with its model", () => {
    const { made } = timeline();
    made.nameQuestion(id, "headline 2, sentiment-words, PROOF");
    expect(made.labelsOf([id])).toBe("headline 2, sentiment-words, PROOF");
  });
});

describe("plainStep", () => {
  it("default: the policy's reason is spelled out", () => {
    expect(plainStep('ForecastTool{} at 0x12 -> "median: 5", because "0: ForecastTool"')).toBe(
      'ForecastTool{} at 0x12 -> "median: 5", because its policy model chose ForecastTool for part 1 of the prompt',
    );
  });

  it("behavior: another reason stays", () => {
    const step = 'A{} at 0x12 -> "because "x", because "I say \\"0: A\\""';
    expect(plainStep(step)).toBe(step);
  });
});

describe("findLocalModel", () => {
  it("default: looks where the configuration says, before the suites' folder", () => {
    const suites = resolve("build/executor-data/llama");
    const lookedIn = (env: Record<string, string>) => findLocalModel(env).lookedIn;
    expect(lookedIn({})).toEqual([resolve("data/llama"), suites]);
    expect(lookedIn({ ASSAY_DATA: "/elsewhere" })).toEqual([resolve("/elsewhere/llama"), suites]);
    expect(lookedIn({ ASSAY_DATA: "/elsewhere", ASSAY_EXECUTOR_LLAMA: "/models/llama" })).toEqual([
      resolve("/models/llama"),
      suites,
    ]);
  });
});
