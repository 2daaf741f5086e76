/** A prover that lies, for demonstrations and tests: the prover of `assay prover`, with its settings, on runs that
 *  `--fault` falsifies. It is no part of the assay program, and refuses any chain that is not local. */
import { Command } from "commander";
import { BaseError } from "../../../base/errors.ts";
import { isLocalChain } from "../../../protocol/chain/presets.ts";
import { withChain, withSettings } from "../../chain.ts";
import { runProgram } from "../../output.ts";
import { PROVER_SETTINGS, serveProver } from "../../prover.ts";
import { FAULTS, parseFault } from "./faults.ts";
import { dishonestRuns } from "./runs.ts";

const kinds = Object.entries(FAULTS).map(([kind, { takesStep, fall, does }]) => {
  const form = takesStep ? `${kind}:<step>` : kind;
  return `  ${form.padEnd(16)} ${does}; falls by ${fall}`;
});

const program = new Command("dishonest-prover")
  .description("a prover that lies, on a local chain; its bonds are lost")
  .option("--config <file>", "configuration file (default assay.json if it is there)")
  .requiredOption("--fault <kind[:step]>", "how it lies")
  .addHelpText("after", `\nKinds of --fault:\n${kinds.join("\n")}`)
  .exitOverride();

withSettings(withChain(program), PROVER_SETTINGS).action(({ fault }: { fault: string }, self: Command) => {
  const runs = dishonestRuns(parseFault(fault));
  return serveProver(self, ({ chain, log }) => {
    const { chainId } = chain.game;
    if (!isLocalChain(chainId)) throw notLocal(chainId);
    log.warn({ fault }, "this prover lies, and will lose its bonds");
    // A cheat has no truth to tell.
    return { runs, truths: [], close: () => {} };
  });
});

const notLocal = (chainId: number) =>
  new BaseError({
    code: "CHAIN_NOT_LOCAL",
    shortMessage: `Chain ${chainId} is not local: a dishonest prover runs on a local chain only.`,
    nextStep: "Rehearse a conviction there with `assay challenger drill`.",
    details: { chainId },
  });

await runProgram(program, process.argv);
