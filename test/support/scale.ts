const isDeep = process.env.TEST_DEPTH === "deep";

/** How many cases a suite plays: few in `npm test`, many in `npm run test:deep`, which .ci/run runs as well. */
export const scaled = <T = number>(few: T, many: T): T => (isDeep ? many : few);
