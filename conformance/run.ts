/** Tries an implementation: asks the cases of each area, compares the answers. */
import { AREAS } from "./areas/index.ts";
import type { Area, Case } from "./case.ts";
import { Command, CommandFault, type Fault } from "./command.ts";
import { type Difference, differenceOf } from "./difference.ts";
import type { LineName } from "./lines.ts";

export interface RunOptions {
  /** the first seed of every area */
  readonly seed: number;
  /** compared elements, all areas together, at least */
  readonly elements: number;
  readonly timeoutMs: number;
  readonly areas: readonly Area[];
  /** an area ends at its first difference */
  readonly untilFirst?: boolean;
}

export interface AreaResult {
  readonly area: string;
  readonly cases: number;
  readonly elements: number;
  /** cases whose answer is another */
  readonly differences: number;
  readonly first?: Difference & { readonly seed: number };
  /** why it was not tried to its end */
  readonly fault?: Fault & { readonly seed: number };
  /** lines that the implementation does not answer: the area is not tried */
  readonly missing?: readonly LineName[];
}

/** Elements for each seed of an area without a share. */
const ELEMENTS_PER_SEED = 2_500;
/** Lines that are asked before the first of them is answered. */
const AHEAD = 8;

/** An area's cases, as many as a run of so many elements takes. */
export function* casesOf(
  area: Area,
  seed: number,
  elements: number,
): Iterable<Case & { readonly seed: number }> {
  const share = (area.share ?? 0) * elements;
  const seeds = area.share === undefined ? Math.ceil(elements / ELEMENTS_PER_SEED) : 1;
  let counted = 0;
  for (let next = seed; next < seed + seeds || counted < share; next++) {
    for (const made of area.cases(next)) {
      counted += made.elements;
      yield { ...made, seed: next };
    }
  }
}

/** @param command program and arguments
 *  @param report called with each area's result as it is there
 *  @throws CommandFault if it does not even say which lines it answers */
export async function runConformance(
  command: readonly string[],
  { seed, elements, timeoutMs, areas, untilFirst = false }: RunOptions,
  report: (result: AreaResult) => void = () => {},
): Promise<AreaResult[]> {
  const results: AreaResult[] = [];
  let { process, answered } = await start(command, timeoutMs);
  try {
    for (const area of areas) {
      const missing = area.lines.filter((name) => !answered.includes(name));
      const none = { area: area.name, cases: 0, elements: 0, differences: 0 };
      const result =
        missing.length > 0
          ? { ...none, missing }
          : await tryArea(process, area, casesOf(area, seed, elements), untilFirst);
      results.push(result);
      report(result);
      if (result.fault === undefined) continue;
      await process.close();
      ({ process, answered } = await start(command, timeoutMs));
    }
  } finally {
    await process.close();
  }
  return results;
}

/** A process that has said which lines it answers. */
async function start(command: readonly string[], timeoutMs: number) {
  const process = new Command(command, timeoutMs);
  try {
    return { process, answered: await process.ask(["lines"]) };
  } catch (error) {
    await process.close();
    throw error;
  }
}

async function tryArea(
  process: Command,
  area: Area,
  cases: Iterable<Case & { readonly seed: number }>,
  untilFirst: boolean,
): Promise<AreaResult> {
  const counts = { cases: 0, elements: 0, differences: 0 };
  let first: AreaResult["first"];
  let fault: AreaResult["fault"];
  const waiting: Promise<void>[] = [];
  for (const made of cases) {
    const compared = process.ask(made.line).then(
      (found) => {
        counts.cases++;
        counts.elements += made.elements;
        const difference = differenceOf(made, found);
        if (difference === undefined) return;
        counts.differences++;
        first ??= { ...difference, seed: made.seed };
      },
      (error: unknown) => {
        if (!(error instanceof CommandFault)) throw error;
        fault ??= { ...error.fault, seed: made.seed };
      },
    );
    waiting.push(compared);
    if (waiting.length >= AHEAD) await waiting.shift();
    if (fault !== undefined || (untilFirst && first !== undefined)) break;
  }
  await Promise.all(waiting);
  return {
    area: area.name,
    ...counts,
    ...(first === undefined ? {} : { first }),
    ...(fault === undefined ? {} : { fault }),
  };
}

/** @throws Error for a name that no area has */
export function areasNamed(names: readonly string[]): readonly Area[] {
  if (names.length === 0) return AREAS;
  return names.map((name) => {
    const found = AREAS.find((area) => area.name === name);
    if (found === undefined) throw new RangeError(AREAS.map((area) => area.name).join(", "));
    return found;
  });
}
