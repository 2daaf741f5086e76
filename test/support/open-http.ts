/** HTTP of a prover that runs in a test: any free port, and limits that no slow machine meets. */
export const OPEN_HTTP = {
  host: "127.0.0.1",
  port: 0,
  maxWaitSeconds: 600,
  runTimeoutSeconds: 600,
  maxRuns: 64,
  requestsPerMinute: 0,
  corsOrigin: [],
} as const;
