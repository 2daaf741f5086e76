const isDeep = process.env.TEST_DEPTH === "deep";

/** How many cases a random suite plays: few in `npm test`, many in `npm run test:deep`, which .ci/run runs as well. */
export const scaled = (few: number, many: number): number => (isDeep ? many : few);
