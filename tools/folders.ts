/** Folders of the program's TypeScript, from the lowest up. */
export const PROGRAM_FOLDERS = [
  "base",
  "inference",
  "protocol",
  "prover",
  "challenger",
  "agent",
  "conformance",
  "explorer",
  "cli",
] as const;
