/** The least and the largest of consecutive entries of a table, which is asked for once an element. Source: a binary tree of
 *  extremes, read from both ends. */
export function extremesOf(values: ArrayLike<number>): (from: number, to: number, out: Float64Array) => void {
  const count = values.length;
  // Node i has the nodes 2i and 2i + 1 below it; entries begin at `count`.
  const low = new Float64Array(2 * count);
  const high = new Float64Array(2 * count);
  low.set(values, count);
  high.set(values, count);
  for (let i = count - 1; i > 0; i--) {
    low[i] = Math.min(low[2 * i] as number, low[2 * i + 1] as number);
    high[i] = Math.max(high[2 * i] as number, high[2 * i + 1] as number);
  }
  return (from, to, out) => {
    let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    const take = (node: number): void => {
      least = Math.min(least, low[node] as number);
      most = Math.max(most, high[node] as number);
    };
    for (let [a, b] = [from + count, to + count + 1]; a < b; a >>= 1, b >>= 1) {
      if (a % 2 === 1) take(a++);
      if (b % 2 === 1) take(--b);
    }
    out[0] = least;
    out[1] = most;
  };
}
