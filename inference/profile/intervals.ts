/** Proves, for every input that the codec can give and the model's own weights, what docs/EXACT.md section 4 lists. */

import type { Model, Step } from "../program/form.ts";
import { type ProfileProblem, StepRanges, type WeightRanges } from "./context.ts";
import { accumulators, type DotWeights } from "./dot.ts";
import { RANGES } from "./generated/index.ts";
import { compact, hull, MAX_KEPT_INTERVALS, type Range } from "./range.ts";

/** Intervals of a model's steps, computed step by step so that an import can ask while it builds the program. */
export class IntervalAnalysis {
  readonly ranges: Range[] = [];
  readonly problems: ProfileProblem[] = [];
  private kept = 0;
  private readonly weightRanges: WeightRanges = new Map();

  /** @param model must pass `validateProgram`; its lists may still grow at the end */
  constructor(readonly model: Model) {}

  /** Analyses the next step. */
  next(node?: string): Range {
    const index = this.ranges.length;
    const step = this.model.program.steps[index] as Step;
    const found = this.rangesOf(step, (problem) => {
      this.problems.push(node === undefined ? problem : { ...problem, node });
    });
    const isTooMuch = this.kept + found.low.length > MAX_KEPT_INTERVALS;
    const isOne = isTooMuch || areAlike(found);
    const range = isOne ? hull(found) : step.type === "f32" ? found : compact(found);
    this.kept += range.low.length;
    this.ranges.push(range);
    return range;
  }

  /** Accumulators of a DOT step that would come next, with weights that the model does not hold yet. */
  accumulators(step: Step, weights: DotWeights): { low: Float64Array; high: Float64Array } {
    return accumulators(
      this.context(step, () => {}),
      weights,
    );
  }

  /** True where a step that would come next has all its proofs. */
  proves(step: Step): boolean {
    let holds = true;
    this.rangesOf(step, () => {
      holds = false;
    });
    return holds;
  }

  private rangesOf(step: Step, report: (problem: ProfileProblem) => void): Range {
    return RANGES[step.opcode](this.context(step, report));
  }

  private context(step: Step, report: (problem: ProfileProblem) => void): StepRanges {
    return new StepRanges(this.model, step, this.ranges.length, this.ranges, this.weightRanges, report);
  }
}

/** Whether all elements have the same interval. */
function areAlike({ low, high }: Range): boolean {
  for (let i = 1; i < low.length; i++) if (low[i] !== low[0] || high[i] !== high[0]) return false;
  return true;
}

export function analyse(model: Model, nodes: readonly string[] = []): IntervalAnalysis {
  const analysis = new IntervalAnalysis(model);
  model.program.steps.forEach((_: Step, i) => {
    analysis.next(nodes[i]);
  });
  return analysis;
}
