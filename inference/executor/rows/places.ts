/** Where a step is computed in which stage. */
import type { Bounds } from "../../profile/causality/bounds.ts";

/** By stage, the places (`length` elements each) with a needed element of that bound, as runs: the first place of a run,
 *  then its end, and so on. */
export class StagePlaces {
  /** in all stages together */
  readonly count: number;
  /** that have a place, in order */
  readonly #stages: Int32Array;
  /** where the runs of each of these stages begin; and the end of the last */
  readonly #starts: Int32Array;
  readonly #runs: Int32Array;

  /** @param stages of the program */
  constructor(bounds: Bounds, needed: Uint8Array, length: number, stages: number) {
    const counts = new Int32Array(stages);
    let count = 0;
    eachPlace(bounds, needed, length, stages, (_, stage, isNext) => {
      count += 1;
      if (!isNext) counts[stage] = (counts[stage] as number) + 1;
    });
    this.count = count;
    this.#stages = Int32Array.from([...counts.keys()].filter((stage) => counts[stage] !== 0));
    this.#starts = new Int32Array(this.#stages.length + 1);
    const next = new Int32Array(stages);
    for (const [i, stage] of this.#stages.entries()) {
      next[stage] = this.#starts[i] as number;
      this.#starts[i + 1] = (this.#starts[i] as number) + 2 * (counts[stage] as number);
    }
    this.#runs = new Int32Array(this.#starts.at(-1) as number);
    eachPlace(bounds, needed, length, stages, (place, stage, isNext) => {
      const at = next[stage] as number;
      if (isNext) this.#runs[at - 1] = place + 1;
      else {
        this.#runs.set([place, place + 1], at);
        next[stage] = at + 2;
      }
    });
  }

  get runs(): number {
    return this.#runs.length / 2;
  }

  /** @returns undefined where there are none */
  of(stage: number): Int32Array | undefined {
    let [low, high] = [0, this.#stages.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#stages[middle] as number) < stage) low = middle + 1;
      else high = middle;
    }
    if (this.#stages[low] !== stage) return undefined;
    return this.#runs.subarray(this.#starts[low], this.#starts[low + 1]);
  }
}

/** Each place and stage once, in the order of places. What has bound 0 the first run computes.
 *  @param visit `isNext`: the place in front of it is of that stage, too */
function eachPlace(
  bounds: Bounds,
  needed: Uint8Array,
  length: number,
  stages: number,
  visit: (place: number, stage: number, isNext: boolean) => void,
): void {
  const last = new Int32Array(stages).fill(-2);
  for (let i = 0; i < needed.length; i++) {
    const stage = needed[i] === 1 ? (bounds?.[i] as number) : 0;
    // No stage has what hangs on the last row.
    if (stage < 1 || stage >= stages) continue;
    const place = Math.floor(i / length);
    if (last[stage] === place) continue;
    visit(place, stage, last[stage] === place - 1);
    last[stage] = place;
  }
}

/** Places of the steps of a plan: steps with the same bounds and needs have the same. */
export class KnownPlaces {
  /** of all that are kept */
  runs = 0;
  readonly #stages: number;
  readonly #ids = new Map<object, number>();
  readonly #made = new Map<string, StagePlaces>();

  /** @param stages of the program */
  constructor(stages: number) {
    this.#stages = stages;
  }

  of(bounds: Bounds, needed: Uint8Array, length: number): StagePlaces {
    const key = `${bounds === undefined ? "" : this.#id(bounds)} ${this.#id(needed)} ${length}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const places = new StagePlaces(bounds, needed, length, this.#stages);
    this.runs += places.runs;
    this.#made.set(key, places);
    return places;
  }

  #id(array: object): number {
    const id = this.#ids.get(array) ?? this.#ids.size;
    this.#ids.set(array, id);
    return id;
  }
}
