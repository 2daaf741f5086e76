/** `assay proof r1cs MODEL`: the circuit as a file, for a ceremony (docs/CEREMONY.md). */
import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { sha256 } from "../../inference/model-folder.ts";
import { compileCircuit } from "../../prover/proof/groth16/compile.ts";
import { writeR1cs } from "../../prover/proof/groth16/snark/files.ts";
import { type ImportFlags, importSettingsOf, withImportOptions } from "../model/options.ts";
import { openModel } from "../model/resolve.ts";
import { printResult, withJson } from "../output.ts";

export function addR1csCommand(parent: Command): void {
  const command = parent
    .command("r1cs <model>")
    .description("write a model's circuit as snarkjs reads it, the same bytes for everybody")
    .requiredOption("--out <file>", "where");
  withJson(withImportOptions(command)).action(
    (name: string, flags: ImportFlags & { out: string }, self: Command) => {
      const { model } = openModel(name, importSettingsOf(flags));
      const { r1cs } = compileCircuit(model);
      const content = writeR1cs(r1cs);
      writeFileSync(flags.out, content);
      const result = { out: flags.out, constraints: r1cs.constraints.length, sha256: sha256(content) };
      printResult(self, result, [
        `${result.constraints} constraints in ${flags.out}, sha256 ${result.sha256}`,
      ]);
    },
  );
}
