/** Compiles the Solidity that ezkl writes, by forge with the project's compiler and a profile of its own: the generated
 *  code runs out of stack in the via-IR pipeline, and another version of the compiler would give another code hash. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { BaseError } from "../../base/errors.ts";
import type { CompiledVerifier } from "../../prover/proof/ezkl/add.ts";
import { foundryBinary, projectRoot } from "../../tools/foundry.ts";

const CONTRACT = "Halo2Verifier";
const OPTIMIZER_RUNS = 10_000;
const EVM = "cancun";

/** @throws BaseError EZKL_VERIFIER_NOT_COMPILED with the compiler's message */
export async function compileVerifier(solidity: string): Promise<CompiledVerifier> {
  const root = mkdtempSync(join(tmpdir(), "assay-verifier-"));
  try {
    mkdirSync(join(root, "src"));
    writeFileSync(join(root, "src", "Verifier.sol"), solidity);
    writeFileSync(join(root, "foundry.toml"), profile());
    await forge(root);
    const artifact = JSON.parse(
      readFileSync(join(root, "out", "Verifier.sol", `${CONTRACT}.json`), "utf8"),
    ) as {
      bytecode: { object: Hex };
      deployedBytecode: { object: Hex };
      metadata: { compiler: { version: string } };
    };
    const { version } = artifact.metadata.compiler;
    return {
      compiler: `solc ${version}, optimizer ${OPTIMIZER_RUNS} runs, ${EVM}, no metadata`,
      initCode: artifact.bytecode.object,
      code: artifact.deployedBytecode.object,
    };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const profile = (): string => `[profile.default]
src = "src"
out = "out"
libs = []
auto_detect_remappings = false
solc = ${JSON.stringify(join(projectRoot, "tools", "solc"))}
offline = true
evm_version = "${EVM}"
via_ir = false
optimizer = true
optimizer_runs = ${OPTIMIZER_RUNS}
bytecode_hash = "none"
cbor_metadata = false
extra_output = ["metadata"]
`;

function forge(root: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, FOUNDRY_PROFILE: "default" };
    const child = spawn(foundryBinary("forge"), ["build", "--root", root, "--no-cache"], { cwd: root, env });
    let log = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part: string) => {
        log = (log + part).slice(-4_000);
      });
    }
    child.on("error", (cause) => reject(notCompiled("forge cannot be started", cause)));
    child.on("close", (code) => {
      if (code === 0) resolve();
      else reject(notCompiled(`forge ended with ${code}`, log));
    });
  });
}

const notCompiled = (why: string, cause: unknown): BaseError =>
  new BaseError({
    code: "EZKL_VERIFIER_NOT_COMPILED",
    shortMessage: `ezkl's verifier does not compile: ${why}.`,
    nextStep: "Run again with --debug to see what the compiler says.",
    cause,
  });
