/** Figures of one derived model. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { elementBytes, elementCount, type Model } from "../../inference/program/form.ts";
import { type Figure, grouped, megabytes } from "../report.ts";

export interface Timed<T> {
  readonly result: T;
  readonly seconds: number;
}

export function timed<T>(work: () => T): Timed<T> {
  const began = performance.now();
  const result = work();
  return { result, seconds: (performance.now() - began) / 1000 };
}

/** The least time of some runs: other processes only ever add to it. */
export function leastTime(runs: number, work: () => unknown): number {
  return Math.min(...Array.from({ length: runs }, () => timed(work).seconds));
}

export const MIB = 2 ** 20;

/** A figure of a model, with its limit where it has one. */
export class ModelFigures {
  readonly all: Figure[] = [];
  readonly #name: string;

  /** @param name of the model, in front of each figure's */
  constructor(name: string) {
    this.#name = name;
  }

  add(what: string, value: string, target?: { readonly text: string; readonly isMet: boolean }): void {
    this.all.push({
      name: `${this.#name}: ${what}`,
      value,
      ...(target === undefined ? {} : { target: target.text, isMet: target.isMet }),
    });
  }

  /** @param most absent: it is only reported */
  atMost(what: string, value: number, shown: (value: number) => string, most?: number): void {
    const target = most === undefined ? undefined : { text: `≤ ${shown(most)}`, isMet: value <= most };
    this.add(what, shown(value), target);
  }

  atLeast(what: string, value: number, shown: (value: number) => string, least: number): void {
    this.add(what, shown(value), { text: `≥ ${shown(least)}`, isMet: value >= least });
  }

  /** @param steps, traceBytes most of them */
  sizes({ program, weights }: Model, steps: number, traceBytes: number): void {
    const trace = program.steps.reduce(
      (sum, { type, dims }) => sum + elementBytes(type) * elementCount(dims),
      0,
    );
    this.atMost("steps", program.steps.length, grouped, steps);
    this.atMost("the trace's tensors", trace, megabytes, traceBytes);
    this.add("weights", megabytes(weights.reduce((sum, { length }) => sum + length, 0)));
  }

  /** The same as data. */
  rows(model: string): object[] {
    const prefix = this.#name.length + 2;
    return this.all.map(({ name, value, target, isMet }) => ({
      ...{ model, figure: name.slice(prefix), value },
      ...(target === undefined ? {} : { target, met: isMet }),
    }));
  }
}

/** What a model's eval.json says of the integers that the recipe gives; `assay model eval` computes it again. */
export function evaluated(folder: string): Readonly<Record<string, number>> {
  const { metrics } = JSON.parse(readFileSync(join(folder, "eval.json"), "utf8"));
  return metrics;
}

export const inPercent = (value: number): string => `${value} %`;
export const inSeconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} s`;
export const inMilliseconds = (value: number): string => `${(1000 * value).toFixed(1)} ms`;
