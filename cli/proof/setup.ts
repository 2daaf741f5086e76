/** `assay proof setup MODEL`: keys of a model's circuit. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { KEY_FILE } from "../../inference/manifest/assay.ts";
import { decodeKey, isDevelopmentKey, vkHashOf } from "../../protocol/rules/proof/groth16.ts";
import { compileCircuit } from "../../prover/proof/groth16/compile.ts";
import {
  ceremonyKeyPath,
  DEFAULT_SEED,
  developmentKeys,
  openKeys,
  saveKey,
} from "../../prover/proof/groth16/keys.ts";
import { localCeremony } from "../../prover/proof/groth16/snark/ceremony.ts";
import { endThreads } from "../../prover/proof/groth16/snark/snarkjs.ts";
import { type ImportFlags, importSettingsOf, withImportOptions } from "../model/options.ts";
import { openModel } from "../model/resolve.ts";
import { printProgress, printResult, refuseArgument, withJson } from "../output.ts";

interface Flags extends ImportFlags {
  readonly seed?: string;
  readonly ceremony?: boolean;
  readonly key?: string;
  readonly keys: string;
  readonly out?: string;
}

/** Where proving keys are kept. */
export const KEY_FOLDER = join(".assay", "keys");
const BAR = 24;

export function addSetupCommand(parent: Command): void {
  const command = parent
    .command("setup <model>")
    .description("make proving and verification key of a model's circuit")
    .option(
      "--seed <text>",
      `of a development key, which anybody who knows it can forge with (default ${DEFAULT_SEED})`,
    )
    .option("--ceremony", "run a ceremony by snarkjs on this machine instead; minutes")
    .option("--key <file>", "take the .zkey file of a ceremony instead of making one")
    .option("--keys <dir>", "where the proving key goes", KEY_FOLDER)
    .option(
      "--out <dir>",
      `write ${KEY_FILE} into this folder, for \`assay model import\` of a model beside it`,
    );
  withJson(withImportOptions(command)).action(async (name: string, flags: Flags, self: Command) => {
    const ways = [flags.ceremony, flags.seed, flags.key].filter((way) => way !== undefined);
    if (ways.length > 1) refuseArgument("--seed, --ceremony, --key", ways, "at most one of the three");
    const { model } = openModel(name, importSettingsOf(flags));
    const circuit = compileCircuit(model);
    const made =
      flags.ceremony === true
        ? await ceremony(circuit.r1cs, flags.keys)
        : flags.key === undefined
          ? await developmentKeys(model, flags.keys, flags.seed, circuit)
          : await openKeys(flags.key);
    const points = decodeKey(made.verificationKey).signals.length - 1;
    if (points !== circuit.signals.count)
      refuseArgument("--key", flags.key, `of this circuit, with ${circuit.signals.count} public signals`);
    if (flags.out !== undefined) writeFileSync(join(flags.out, KEY_FILE), made.verificationKey);
    const { provingKey, vkHash } = made;
    const origin = isDevelopmentKey(made.verificationKey) ? "development" : "ceremony";
    const bytes = made.verificationKey.length;
    printResult(self, { vkHash, origin, provingKey, constraints: circuit.r1cs.constraints.length, bytes }, [
      `vkHash ${vkHash}, ${origin} key`,
      `proving key ${provingKey}`,
      `verification key of ${bytes} bytes${flags.out === undefined ? " (give --out DIR to write it)" : ` in ${flags.out}`}`,
      ...(origin === "development" ? ["DEV-ONLY: whoever knows the seed can prove any output"] : []),
    ]);
  });
}

async function ceremony(r1cs: Parameters<typeof localCeremony>[0], folder: string) {
  const keys = await localCeremony(r1cs, (stage, done, of) => {
    const full = Math.round((BAR * done) / of);
    printProgress(`[${"#".repeat(full)}${".".repeat(BAR - full)}] ${done + 1} of ${of}: ${stage}`);
  });
  await endThreads();
  const vkHash = vkHashOf(keys.verificationKey);
  const provingKey = ceremonyKeyPath(vkHash, folder);
  saveKey(provingKey, keys.provingKey);
  return { provingKey, verificationKey: keys.verificationKey, vkHash };
}
