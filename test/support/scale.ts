const depth = process.env.TEST_DEPTH;

/** How many cases a suite plays: few in `npm test`, many in `npm run test:deep`, which .ci/run runs as well, most in
 *  `npm run test:nightly`. */
export const scaled = <T = number>(few: T, many: T, most: T = many): T =>
  depth === "nightly" ? most : depth === "deep" ? many : few;
