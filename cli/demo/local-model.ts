/** Where a demonstration finds the local language model, if there is one. */
import { resolve } from "node:path";
import { isLlamaInstalled } from "../../agent/executor/models/llama/install.ts";
import { llamaFolder, modelConfigOf } from "../agent/models.ts";

/** What the suites install. */
const OF_SUITES = "build/executor-data/llama";

export interface FoundModel {
  /** absent: it is in none of them */
  readonly folder?: string;
  readonly lookedIn: readonly string[];
}

/** Looks where `assay agent llama install` puts it (--llama, ASSAY_DATA, assay.json), then where the suites do. */
export function findLocalModel(env: Readonly<Record<string, string | undefined>>): FoundModel {
  const lookedIn = [llamaFolder(modelConfigOf({ flags: {}, env })), resolve(OF_SUITES)];
  const folder = lookedIn.find(isLlamaInstalled);
  return { lookedIn, ...(folder === undefined ? {} : { folder }) };
}
