/** What an import tells about how nodes were lowered. */

/** A weight scale that was moved. */
export interface Nudge {
  readonly channel: number;
  readonly from: number;
  readonly to: number;
}

/** How one requantization was lowered. */
export interface RequantizationReport {
  readonly node: string;
  readonly channels: number;
  readonly form: "integer" | "binary32";
  /** Channels without an integer form. */
  readonly without: readonly number[];
  readonly nudges: readonly Nudge[];
}

/** How a tree ensemble was lowered. */
export interface TreeReport {
  readonly node: string;
  readonly trees: number;
  /** Those that some input reaches. */
  readonly leaves: number;
  /** Leaves are whole numbers of 2^-scaleBits. */
  readonly scaleBits: number;
  /** How far a score can be from the exact sum of the file's leaves, before it is rounded to binary32. */
  readonly scoreBound: number;
  /** How far a probability can be from that of the exact sum; absent without a transform. */
  readonly probabilityBound?: number;
}
