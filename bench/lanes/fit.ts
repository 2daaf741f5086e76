/** Fits of measurements by formulas that are linear in what is known before. */

/** Coefficients x ≥ 0 that make the rows' products with x closest to the values: least squares of the relative
 *  errors, so that small sizes count as much as large ones. Tries every set of columns: there are few.
 *  @param rows one or more, each with as many columns @param values above 0, one a row */
export function fitNonNegative(rows: readonly (readonly number[])[], values: readonly number[]): number[] {
  const columns = rows[0]?.length ?? 0;
  const weighted = rows.map((row, i) => row.map((cell) => cell / (values[i] as number)));
  let best = { error: Number.POSITIVE_INFINITY, x: new Array<number>(columns).fill(0) };
  for (let set = 1; set < 2 ** columns; set++) {
    const used = Array.from({ length: columns }, (_, i) => i).filter((i) => (set >> i) & 1);
    const part = weighted.map((row) => used.map((i) => row[i] as number));
    const solved = solveNormal(part);
    if (solved === undefined || solved.some((value) => value < 0)) continue;
    const error = part.reduce((sum, row) => sum + (dot(row, solved) - 1) ** 2, 0);
    if (error > best.error * (1 - 1e-9)) continue;
    const x = new Array<number>(columns).fill(0);
    used.forEach((column, i) => {
      x[column] = solved[i] as number;
    });
    best = { error, x };
  }
  return best.x;
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);

/** Least squares of rows · x = 1 by the normal equations, columns scaled to length 1.
 *  @returns undefined if the columns do not determine x */
function solveNormal(rows: readonly (readonly number[])[]): number[] | undefined {
  const count = rows[0]?.length ?? 0;
  const column = (i: number): number[] => rows.map((row) => row[i] as number);
  const scales = Array.from({ length: count }, (_, i) => Math.sqrt(dot(column(i), column(i))));
  if (scales.some((scale) => scale === 0)) return undefined;
  const unit = Array.from({ length: count }, (_, i) => column(i).map((cell) => cell / (scales[i] as number)));
  const system = unit.map((a) => [...unit.map((b) => dot(a, b)), a.reduce((sum, cell) => sum + cell, 0)]);
  for (let i = 0; i < count; i++) {
    const pivot = system.slice(i).reduce((most, row) => Math.max(most, Math.abs(row[i] as number)), 0);
    if (pivot < 1e-10) return undefined;
    const at = system.findIndex((row, k) => k >= i && Math.abs(row[i] as number) === pivot);
    [system[i], system[at]] = [system[at] as number[], system[i] as number[]];
    const top = system[i] as number[];
    for (const [k, row] of system.entries()) {
      if (k === i) continue;
      const factor = (row[i] as number) / (top[i] as number);
      system[k] = row.map((cell, j) => cell - factor * (top[j] as number));
    }
  }
  return system.map((row, i) => (row[count] as number) / (row[i] as number) / (scales[i] as number));
}

/** Where two curves of the same abscissas cross, straight lines between the points of the logarithms.
 *  @param xs rising, above 0 @param a, b above 0, one a point
 *  @returns undefined if neither overtakes the other */
export function crossing(
  xs: readonly number[],
  a: readonly number[],
  b: readonly number[],
): number | undefined {
  const gap = xs.map((_, i) => Math.log((a[i] as number) / (b[i] as number)));
  for (let i = 1; i < xs.length; i++) {
    const [before, after] = [gap[i - 1] as number, gap[i] as number];
    if (before === 0) return xs[i - 1];
    if (before > 0 === after > 0 && after !== 0) continue;
    const [low, high] = [Math.log(xs[i - 1] as number), Math.log(xs[i] as number)];
    return Math.exp(low + ((high - low) * before) / (before - after));
  }
  return undefined;
}
