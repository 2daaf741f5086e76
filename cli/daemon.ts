/** What the long-running commands share: their log, their models and how they stop. */
import { setMaxListeners } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { BaseError } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { type LoadedModel, loadModelFolder } from "../inference/model-folder.ts";
import type { Chain } from "../protocol/chain/connect.ts";
import { requireJudge } from "../protocol/chain/register.ts";
import { text, wei } from "../protocol/service/config.ts";
import { isProofModelFolder, loadProofModel, type ProofModel } from "../prover/proof/ezkl/folder.ts";
import { projectRoot } from "../tools/foundry.ts";

export const MODELS_SETTING = {
  schema: text,
  default: join(projectRoot, "models"),
  isPath: true,
  description: "folder that holds model folders",
} as const;

export const ENDING_BUDGET_SETTING = {
  schema: wei,
  default: "0.01 ether",
  description:
    "most that gas may cost in an hour for ending overdue claims in which this key has no stake, 0: none",
} as const;

/** Models with a program, which can be executed, and those that only proofs make final. */
export interface Models {
  readonly programs: readonly LoadedModel[];
  readonly proofModels: readonly ProofModel[];
}

/** Loads every folder below `folder` that has a manifest. One that is not as its manifest says is reported and left
 *  out: a node never works with a model that its own checks did not accept, nor with one that the chain's judge cannot
 *  judge.
 *  @param chain absent: no deployment is known, so that its judge's version is not asked for
 *  @throws BaseError MODELS_MISSING when none is left */
export function loadModels(folder: string, log: Logger, chain?: Pick<Chain, "deployment">): Models {
  const programs: LoadedModel[] = [];
  const proofModels: ProofModel[] = [];
  for (const name of namesIn(folder)) {
    const directory = join(folder, name);
    try {
      if (isProofModelFolder(directory)) proofModels.push(loadProofModel(directory));
      else {
        const loaded = loadModelFolder(directory);
        if (chain !== undefined) requireJudge(chain, loaded.commitment);
        programs.push(loaded);
      }
    } catch (error) {
      log.error({ folder: directory, error }, "a model folder is left out");
    }
  }
  if (programs.length + proofModels.length > 0) return { programs, proofModels };
  throw new BaseError({
    code: "MODELS_MISSING",
    shortMessage: `There is no usable model in ${folder}.`,
    nextStep: "Name a folder of model folders with --models, or fill it with `assay model pull`.",
    details: { folder },
  });
}

function namesIn(folder: string): string[] {
  // By links too; one that leads nowhere is no folder.
  const isModel = (name: string): boolean => existsSync(join(folder, name, "manifest.json"));
  try {
    return readdirSync(folder).filter(isModel).sort();
  } catch (cause) {
    throw new BaseError({
      code: "MODELS_MISSING",
      shortMessage: `The folder ${folder} cannot be read.`,
      nextStep: "Name a folder of model folders with --models.",
      cause,
    });
  }
}

/** Aborts at SIGINT or SIGTERM. The second signal ends the process at once: the journal takes care of the rest. */
export function stopSignal(log: Logger): AbortSignal {
  const controller = new AbortController();
  // Every move on its way listens; there is no limit on how many that are.
  setMaxListeners(0, controller.signal);
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(1);
      log.info({ signal: name }, "stopping");
      controller.abort();
    });
  }
  return controller.signal;
}
