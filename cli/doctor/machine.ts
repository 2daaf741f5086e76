/** Checks of the data folder, and of the models that are here. */
import { existsSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { isBaseError } from "../../base/errors.ts";
import { type Logger, SILENT } from "../../base/log.ts";
import type { LoadedModel } from "../../inference/model-folder.ts";
import type { Chain } from "../../protocol/chain/connect.ts";
import { StateReader } from "../../protocol/chain/reads.ts";
import type { ModelId } from "../../protocol/rules/types.ts";
import { lockFolder, openDatabase } from "../../protocol/service/journal/database.ts";
import { type JournalOwner, requireOwner } from "../../protocol/service/journal/journal.ts";
import type { ProofModel } from "../../prover/proof/ezkl/folder.ts";
import { loadModels } from "../daemon.ts";
import { type Finding, fail, found, ok, warn } from "./finding.ts";

const MIB = 1_048_576;
const LEAST_FREE_MIB = 100;
const LITTLE_FREE_MIB = 1_024;

/** @param folder is made if it is not there @param owner who would use it, as far as that is known */
export function checkData(folder: string, owner: Partial<JournalOwner>): Finding[] {
  return [...databaseFindings(folder, owner), diskFinding(folder, freeMib(folder))];
}

function databaseFindings(folder: string, owner: Partial<JournalOwner>): Finding[] {
  try {
    const lock = lockFolder(folder);
    try {
      const path = join(folder, "assay.sqlite");
      // Opening checks the whole file; without parts it changes nothing.
      if (existsSync(path)) checkDatabase(path, owner);
      return [ok("data", `${folder} can be written, its database is whole`)];
    } finally {
      lock.release();
    }
  } catch (error) {
    if (isBaseError(error, "JOURNAL_OWNER_MISMATCH"))
      return [fail("data", `${folder}: ${error.shortMessage}`, error.nextStep)];
    if (isBaseError(error, "DATA_FOLDER_BUSY"))
      return [ok("data", `${folder} is in use by a running process`)];
    throw error;
  }
}

function checkDatabase(path: string, owner: Partial<JournalOwner>): void {
  const db = openDatabase(path, []);
  try {
    requireOwner(db, owner);
  } finally {
    db.close();
  }
}

function freeMib(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return Math.floor((bavail * bsize) / MIB);
}

/** @param free MiB */
export function diskFinding(folder: string, free: number): Finding {
  const text = `${free} MiB are free below ${folder}`;
  const nextStep =
    "Make room, or name a folder on another disk with --data (ASSAY_DATA): a full disk stops every move.";
  if (free < LEAST_FREE_MIB) return fail("disk", text, nextStep);
  return free < LITTLE_FREE_MIB ? warn("disk", text, nextStep) : ok("disk", text);
}

/** @param chain absent: registration is not looked at */
export async function checkModels(folder: string, chain: Chain | undefined): Promise<Finding[]> {
  const refused: Finding[] = [];
  const log: Logger = {
    ...SILENT,
    error: (fields) => {
      const { folder: path, error } = fields as { folder: string; error: unknown };
      const reason = error instanceof Error ? error.message : String(error);
      refused.push(fail("models", `${path} is left out: ${reason}`, "Pull or import it again."));
    },
  };
  const findings = await found("models", () => {
    const { programs, proofModels } = loadModels(folder, log, chain);
    return Promise.all([...programs, ...proofModels].map((model) => modelFinding(model, chain)));
  });
  return [...refused, ...findings];
}

async function modelFinding(model: LoadedModel | ProofModel, chain: Chain | undefined): Promise<Finding> {
  const { manifest, modelId, directory } = model;
  const named = `${manifest.name} is whole, its id is ${modelId}`;
  if (chain === undefined) return ok("models", named);
  const registered = await new StateReader(chain).model(modelId as ModelId);
  if (registered !== undefined) return ok("models", `${named}, registered`);
  return warn(
    "models",
    `${named}, not registered on chain ${chain.game.chainId}`,
    `Register it with \`assay model register ${directory}\`, or take the version that is.`,
  );
}
