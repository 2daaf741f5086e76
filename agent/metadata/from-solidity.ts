/** The `abi` of metadata from a Solidity interface, as `solc --abi` prints it, with NatSpec as descriptions. */
import { readFileSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative, sep } from "node:path";
import { BaseError } from "../../base/errors.ts";
import { type AbiFunction, type AbiParameter, signatureOf } from "../../inference/manifest/abi.ts";
import { normalizedFunction } from "./read.ts";

export interface SolidityAbi {
  readonly contract: string;
  readonly abi: readonly AbiFunction[];
  /** entries that metadata does not hold: events, errors, constructors */
  readonly leftOut: readonly string[];
}

interface Compiler {
  compile(
    input: string,
    callbacks: { import: (path: string) => { contents: string } | { error: string } },
  ): string;
}

interface Documentation {
  readonly details?: string;
  readonly notice?: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly returns?: Readonly<Record<string, string>>;
}

interface CompiledContract {
  readonly abi: readonly (AbiFunction | { readonly type: string; readonly name?: string })[];
  readonly devdoc?: { readonly methods?: Readonly<Record<string, Documentation>> };
  readonly userdoc?: { readonly methods?: Readonly<Record<string, Documentation>> };
}

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, CompiledContract>>>>;
}

/** @param file imports are read from its folder and below, from nowhere else
 *  @param contract which one, if the file declares several with functions
 *  @throws BaseError SOLC_MISSING, SOLIDITY_INVALID, CONTRACT_AMBIGUOUS, CONTRACT_UNKNOWN */
export function abiFromSolidity(file: string, contract?: string): SolidityAbi {
  const source = basename(file);
  const output = compile(file, source);
  const failures = (output.errors ?? []).filter(({ severity }) => severity === "error");
  if (failures.length > 0) throw invalid(file, failures.map((e) => e.formattedMessage).join("\n"));
  const declared = Object.entries(output.contracts?.[source] ?? {}).filter(([, { abi }]) =>
    abi.some(({ type }) => type === "function"),
  );
  const [chosen, ...others] = declared.filter(([name]) => contract === undefined || name === contract);
  if (chosen === undefined || others.length > 0) throw choose(file, declared, contract);
  const [name, compiled] = chosen;
  const isFunction = (entry: { readonly type: string }): entry is AbiFunction => entry.type === "function";
  return {
    contract: name,
    abi: compiled.abi.filter(isFunction).map((f) => described(normalizedFunction(f), compiled)),
    leftOut: compiled.abi
      .filter((entry) => !isFunction(entry))
      .map((e) => `${e.type} ${e.name ?? ""}`.trim()),
  };
}

function compile(file: string, source: string): CompilerOutput {
  const compiler = loadCompiler();
  const folder = realpathSync(dirname(file));
  const input = {
    language: "Solidity",
    sources: { [source]: { content: readFileSync(file, "utf8") } },
    settings: { outputSelection: { "*": { "*": ["abi", "devdoc", "userdoc"] } } },
  };
  const read = (path: string) => {
    try {
      const real = realpathSync(join(folder, path));
      if (relative(folder, real).split(sep)[0] === "..")
        return { error: "it lies outside the file's folder" };
      return { contents: readFileSync(real, "utf8") };
    } catch (error) {
      return { error: (error as Error).message };
    }
  };
  return JSON.parse(compiler.compile(JSON.stringify(input), { import: read })) as CompilerOutput;
}

/** @throws BaseError SOLC_MISSING */
function loadCompiler(): Compiler {
  try {
    return createRequire(import.meta.url)("solc") as Compiler;
  } catch (cause) {
    throw new BaseError({
      code: "SOLC_MISSING",
      shortMessage: "The Solidity compiler is not installed: there is no package solc.",
      nextStep: "Run `npm install solc` beside Assay.",
      cause,
    });
  }
}

/** Fills in what NatSpec says: @notice (else @dev) of the function, @param, @return. */
function described(f: AbiFunction, { devdoc, userdoc }: CompiledContract): AbiFunction {
  const signature = signatureOf(f);
  const dev = devdoc?.methods?.[signature];
  const description = userdoc?.methods?.[signature]?.notice ?? dev?.details;
  const withText = (p: AbiParameter, text: string | undefined): AbiParameter =>
    text === undefined ? p : { ...p, description: text };
  return {
    ...f,
    ...(description === undefined ? {} : { description }),
    inputs: f.inputs.map((p) => withText(p, dev?.params?.[p.name ?? ""])),
    outputs: f.outputs.map((p, i) => withText(p, dev?.returns?.[p.name || `_${i}`])),
  };
}

const invalid = (file: string, messages: string) =>
  new BaseError({
    code: "SOLIDITY_INVALID",
    shortMessage: `${file} does not compile:\n${messages.trim()}`,
    nextStep: "Correct the source; imports must lie in its folder.",
  });

function choose(
  file: string,
  declared: readonly [string, unknown][],
  contract: string | undefined,
): BaseError {
  const names = declared.map(([name]) => name);
  const [code, message] =
    contract === undefined && names.length > 1
      ? ["CONTRACT_AMBIGUOUS", `${file} declares ${names.length} contracts with functions`]
      : ["CONTRACT_UNKNOWN", `${file} declares no contract ${contract ?? ""} with functions`];
  const nextStep =
    names.length === 0 ? "Declare an interface." : `Name one with --contract: ${names.join(", ")}.`;
  return new BaseError({ code, shortMessage: `${message}.`, nextStep, details: { contracts: names } });
}
