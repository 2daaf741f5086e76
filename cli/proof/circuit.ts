/** `assay proof circuit MODEL`: what proving a model with Groth16 would take, step by step. */
import type { Command } from "commander";
import { MAX_COUNTED } from "../../prover/proof/groth16/circuit.ts";
import { assertWithin, circuitSize, MAX_CONSTRAINTS } from "../../prover/proof/groth16/compile.ts";
import { type ImportFlags, importSettingsOf, withImportOptions } from "../model/options.ts";
import { openModel } from "../model/resolve.ts";
import { printResult, refuseArgument, withJson } from "../output.ts";

interface Flags extends ImportFlags {
  readonly limit: string;
}

export function addCircuitCommand(parent: Command): void {
  const command = parent
    .command("circuit <model>")
    .description("count the constraints of a model's circuit, step by step")
    .option("--limit <n>", "most constraints; above them the command fails", String(MAX_CONSTRAINTS));
  withJson(withImportOptions(command)).action((name: string, flags: Flags, self: Command) => {
    const limit = Number(flags.limit);
    if (!Number.isInteger(limit) || limit < 1) refuseArgument("--limit", flags.limit, "a number from 1");
    const { model } = openModel(name, importSettingsOf(flags));
    const size = circuitSize(model);
    const { constraints, coefficients, publicSignals, domain, costs } = size;
    printResult(self, { ...size, limit, fits: constraints <= limit }, [
      `constraints: ${constraints > MAX_COUNTED ? `more than ${MAX_COUNTED}` : constraints}, at most ${limit}`,
      `domain: 2^${Math.log2(domain)}`,
      `public signals: ${publicSignals}`,
      `coefficients of A and B: ${coefficients}`,
      ...costs.map(
        (c) => `${c.step}: ${c.operation}: ${c.constraints} constraints, ${c.coefficients} coefficients`,
      ),
    ]);
    assertWithin(size, limit);
  });
}
