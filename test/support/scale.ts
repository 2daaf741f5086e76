const depth = process.env.TEST_DEPTH;

/** Every so many-th of `all` in a suite that each change plays, and all in `npm run test:deep` and nightly. */
export const sampled = <T>(all: readonly T[], every: number): readonly T[] =>
  all.filter((_, i) => i % scaled(every, 1) === 0);

/** How many cases a suite plays: few in `npm test`, many in `npm run test:deep`, most in `npm run test:nightly`. */
export const scaled = <T = number>(few: T, many: T, most: T = many): T =>
  depth === "nightly" ? most : depth === "deep" ? many : few;
