/** Seeded random numbers: the same seed gives the same sequence on every machine. */
export interface Rng {
  /** Uniform u32. */
  u32(): number;
  /** Uniform integer from low to high, both included; high − low < 2^53. */
  int(low: number, high: number): number;
  /** True with probability p. */
  chance(p: number): boolean;
  pick<T>(items: readonly T[]): T;
  bytes(count: number): Uint8Array;
}

/** sfc32 (Chris Doty-Humphrey's small fast counter), seeded by one number. */
export function createRng(seed: number): Rng {
  let [a, b, c, counter] = [seed | 0, 0x9e3779b9 | 0, Math.floor(seed / 2 ** 32) | 0, 1];
  const u32 = (): number => {
    const t = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return t >>> 0;
  };
  for (let i = 0; i < 12; i++) u32();
  const int = (low: number, high: number): number => {
    const unit = (u32() * 2 ** 21 + (u32() >>> 11)) / 2 ** 53;
    return low + Math.floor(unit * (high - low + 1));
  };
  return {
    u32,
    int,
    chance: (p) => u32() < p * 2 ** 32,
    pick: (items) => items[int(0, items.length - 1)] as (typeof items)[number],
    bytes: (count) => Uint8Array.from({ length: count }, () => u32() & 255),
  };
}
