/** `assay prover` on a machine that runs models and has no memory for their traces: a program for tests of workers. */
import { Command } from "commander";
import { withChain, withSettings } from "../../cli/chain.ts";
import { runProgram } from "../../cli/output.ts";
import { honestWork, PROVER_SETTINGS, serveProver } from "../../cli/prover.ts";
import { DATABASE_SETTINGS } from "../../protocol/service/config.ts";

const program = new Command("traceless-prover").exitOverride();
withSettings(withSettings(withChain(program), DATABASE_SETTINGS), PROVER_SETTINGS).action(
  (_options: object, self: Command) =>
    serveProver(self, (parts) => {
      const { canonical } = parts;
      const trace = () => Promise.reject(new Error("no memory for a trace"));
      const [output, check] = [canonical.output.bind(canonical), canonical.check.bind(canonical)];
      return honestWork({ ...parts, canonical: { output, check, trace } });
    }),
);
await runProgram(program, process.argv);
