// The part of solc's command line that forge uses, over the npm package "solc":
//   --version                 print the version
//   --standard-json           read the input from stdin, write the output to stdout
// Path options are accepted and ignored: forge puts the text of every source into the input.
//
// The compiler uses one core. Of many files it is given the same sources several times at once, and asked each time
// for another share of the contracts.

const { spawn } = require("node:child_process");
const { readFileSync } = require("node:fs");
const { availableParallelism } = require("node:os");

const VALUE_OPTIONS = new Set(["--base-path", "--allow-paths", "--include-path"]);
/** Below, reading the sources again costs more than is won. */
const FILES_PER_PROCESS = 24;
/** Each takes some 700 MB. */
const MAX_PROCESSES = 4;

function parseMode(args) {
  let mode;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    if (arg === "--version" || arg === "--standard-json" || arg === "--share") mode = arg;
    else if (VALUE_OPTIONS.has(arg)) i++;
    else if (!VALUE_OPTIONS.has(arg.split("=")[0]) && arg !== "-")
      throw new Error(`unsupported argument ${arg}`);
  }
  if (mode === undefined) throw new Error("expected --version or --standard-json");
  return mode;
}

/** Inputs that each select a share of the files. Large files are dealt out first. */
function split(input) {
  const selected = Object.entries(input.settings.outputSelection ?? {}).filter(
    ([file, contracts]) => file !== "*" && Object.values(contracts).some((outputs) => outputs.length > 0),
  );
  const count = Math.min(
    availableParallelism(),
    MAX_PROCESSES,
    Math.floor(selected.length / FILES_PER_PROCESS),
  );
  if (count < 2) return [input];
  const bytes = ([file]) => input.sources[file]?.content.length ?? 0;
  const shares = Array.from({ length: count }, () => ({ bytes: 0, files: [] }));
  for (const one of selected.sort((a, b) => bytes(b) - bytes(a))) {
    const least = shares.reduce((a, b) => (b.bytes < a.bytes ? b : a));
    least.bytes += bytes(one);
    least.files.push(one);
  }
  return shares.map(({ files }) => ({
    ...input,
    settings: { ...input.settings, outputSelection: Object.fromEntries(files) },
  }));
}

function compileShare(input) {
  const child = spawn(process.execPath, [__filename, "--share"], { stdio: ["pipe", "pipe", "inherit"] });
  const parts = [];
  child.stdout.on("data", (part) => parts.push(part));
  child.stdin.end(JSON.stringify(input));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0) resolve(JSON.parse(Buffer.concat(parts).toString("utf8")));
      else reject(new Error(`a compiler process ended with exit code ${code}`));
    });
  });
}

/** Every output has all sources, and the contracts of its share. An error of a source is in all of them. */
function merge(outputs) {
  const errors = new Map(
    outputs.flatMap(({ errors = [] }) => errors.map((error) => [JSON.stringify(error), error])),
  );
  const merged = { ...outputs[0], contracts: {}, ...(errors.size > 0 && { errors: [...errors.values()] }) };
  for (const { contracts = {} } of outputs) {
    for (const [file, compiled] of Object.entries(contracts)) {
      merged.contracts[file] = { ...merged.contracts[file], ...compiled };
    }
  }
  return merged;
}

async function main() {
  const mode = parseMode(process.argv.slice(2));
  const compile = (text) => require("solc").compile(text);
  if (mode === "--version") {
    process.stdout.write(
      `solc, the solidity compiler commandline interface\nVersion: ${require("solc").version()}\n`,
    );
    return;
  }
  const text = readFileSync(0, "utf8");
  const shares = mode === "--share" ? [] : split(JSON.parse(text));
  if (shares.length < 2) process.stdout.write(compile(text));
  else process.stdout.write(JSON.stringify(merge(await Promise.all(shares.map(compileShare)))));
}

main().catch((error) => {
  process.stderr.write(`tools/solc: ${error.message}\n`);
  process.exitCode = 1;
});
