import { fail } from "./fail.ts";

/** What reading an element of a constant, or making one of a step, costs. */
const MOST_WORK = 2 ** 30;
/** A constant's element that is computed at import. */
export const MADE = 128;
/** A number of a function's table that one more node changes: some 500 functions of 16 bits, 256 KB each. */
export const MAPPED = 16;
/** The search for a channel's integer form: some hundred bisections, each for every threshold. */
export const CHANNEL = 2 ** 14;
const MOST_WEIGHT_BYTES = 2 ** 29;

/** Bounds what an import works and allocates, so that no small file takes hours or all memory. */
export class Budget {
  private work = 0;
  private weightBytes = 0;

  /** @param mostWork units */
  constructor(private readonly mostWork = MOST_WORK) {}

  /** To be called before the work. @param units see above @throws IMPORT_TOO_LARGE */
  spend(units: number): void {
    this.work += units;
    if (!(this.work <= this.mostWork)) throw tooLarge("units of work", this.mostWork);
  }

  /** @throws IMPORT_TOO_LARGE */
  store(bytes: number): void {
    this.weightBytes += bytes;
    if (!(this.weightBytes <= MOST_WEIGHT_BYTES)) throw tooLarge("bytes of weights", MOST_WEIGHT_BYTES);
  }
}

const tooLarge = (what: string, limit: number) =>
  fail(
    "IMPORT_TOO_LARGE",
    `The graph takes more than ${limit} ${what} to import.`,
    "Use smaller tensors, or split the model.",
    { limit },
  );
