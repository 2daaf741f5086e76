/** `assay proof …`: keys and proofs of the PROOF lane. One file a command. */
import type { Command } from "commander";
import { addCircuitCommand } from "./circuit.ts";
import { addEzklCommands } from "./ezkl.ts";
import { addProveCommands } from "./prove.ts";
import { addR1csCommand } from "./r1cs.ts";
import { addSetupCommand } from "./setup.ts";

/** The command that holds all proof commands, made if it is not there. */
export function proofCommand(program: Command): Command {
  const found = program.commands.find((command) => command.name() === "proof");
  return found ?? program.command("proof").description("keys and proofs of the PROOF lane");
}

export function addProofCommands(program: Command): void {
  const proof = proofCommand(program);
  addCircuitCommand(proof);
  addR1csCommand(proof);
  addSetupCommand(proof);
  addProveCommands(proof);
  addEzklCommands(proof);
}
