/** Which rounds of a price feed complete the days of a series. */

/** A round of the series' source. */
export interface SourceRound {
  readonly id: bigint;
  /** in the series' unit, above 0 */
  readonly price: bigint;
  /** seconds */
  readonly updatedAt: number;
}

/** A day of a series, as the contract has it. */
export interface Bar {
  readonly close: bigint;
  readonly high: bigint;
  readonly low: bigint;
  /** seconds, 0 for a day of which nothing is recorded */
  readonly closeAt: number;
}

export const DAY_SECONDS = 86_400;
export const dayOf = (second: number): number => Math.floor(second / DAY_SECONDS);

/** Days that have a round, the newest first.
 *  @param rounds in any order @param last newest day that may count
 *  @returns at most `length` */
export function daysOf(rounds: readonly SourceRound[], last: number, length: number): number[] {
  const days = new Set(rounds.map(({ updatedAt }) => dayOf(updatedAt)).filter((day) => day <= last));
  return [...days].sort((a, b) => b - a).slice(0, length);
}

/** The fewest rounds of a day that make its bar what all of them make it.
 *  @param rounds all of the day, at least one */
export function missingRounds(rounds: readonly SourceRound[], bar: Bar): bigint[] {
  const best = (isBetter: (a: SourceRound, b: SourceRound) => boolean) =>
    rounds.reduce((kept, round) => (isBetter(round, kept) ? round : kept));
  const close = best((a, b) => a.updatedAt > b.updatedAt);
  const high = best((a, b) => a.price > b.price);
  const low = best((a, b) => a.price < b.price);
  const isNew = bar.closeAt === 0;
  const chosen = new Set<bigint>();
  if (isNew || close.updatedAt > bar.closeAt) chosen.add(close.id);
  // What the close brings need not come twice.
  const most = chosen.has(close.id) && close.price > bar.high ? close.price : bar.high;
  const least = chosen.has(close.id) && (isNew || close.price < bar.low) ? close.price : bar.low;
  if (high.price > most) chosen.add(high.id);
  if (low.price < least) chosen.add(low.id);
  return [...chosen];
}

/** A round that is written or asked for. */
export interface Reached {
  /** of its newest data, seconds */
  readonly observedAt: number;
  /** when it was written or asked for, seconds */
  readonly at: number;
}

export interface Pace {
  /** seconds after which newer data are due, however little they moved */
  readonly heartbeatSeconds: number;
  /** parts per million of the price by which newer data are due before */
  readonly deviation: number;
}

/** Whether a round over the newest data is due.
 *  @param newest second of the newest data @param now chain time, seconds
 *  @param closes of the last round's newest day and of the newest one; undefined where that bar is not kept any more */
export function isDue(
  newest: number,
  last: Reached | undefined,
  now: number,
  closes: { readonly before: bigint | undefined; readonly now: bigint },
  { heartbeatSeconds, deviation }: Pace,
): boolean {
  if (last === undefined) return true;
  if (newest <= last.observedAt) return false;
  if (now >= last.at + heartbeatSeconds || closes.before === undefined) return true;
  const moved = closes.now > closes.before ? closes.now - closes.before : closes.before - closes.now;
  return moved * 1_000_000n >= BigInt(deviation) * closes.before;
}
