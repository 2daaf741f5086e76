/** What figures stand beside, with its version: the one that is installed here. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "../tools/foundry.ts";

const read = (path: string): string => readFileSync(join(projectRoot, path), "utf8");
const { dependencies } = JSON.parse(read("package.json")) as { dependencies: Record<string, string> };

export const SNARKJS = `snarkjs ${dependencies.snarkjs}`;
/** The one that `assay proof ezkl install` installs. */
export const EZKL = `ezkl ${/^ezkl==(\S+)/m.exec(read("prover/proof/ezkl/requirements.txt"))?.[1]}`;
export const ONNXRUNTIME = `onnxruntime ${dependencies["onnxruntime-node"]}`;
