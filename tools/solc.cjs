// The part of solc's command line that forge uses, over the npm package "solc":
//   --version                 print the version
//   --standard-json           read the input from stdin, write the output to stdout
// Path options are accepted and ignored: forge puts the text of every source into the input.

const { readFileSync } = require("node:fs");

const VALUE_OPTIONS = new Set(["--base-path", "--allow-paths", "--include-path"]);

function parseMode(args) {
  let mode;
  for (let i = 0; i < args.length; i++) {
    const arg = args[i];
    if (arg === "--version" || arg === "--standard-json") mode = arg;
    else if (VALUE_OPTIONS.has(arg)) i++;
    else if (!VALUE_OPTIONS.has(arg.split("=")[0]) && arg !== "-")
      throw new Error(`unsupported argument ${arg}`);
  }
  if (mode === undefined) throw new Error("expected --version or --standard-json");
  return mode;
}

function main() {
  const mode = parseMode(process.argv.slice(2));
  const compiler = require("solc");
  if (mode === "--version") {
    process.stdout.write(
      `solc, the solidity compiler commandline interface\nVersion: ${compiler.version()}\n`,
    );
    return;
  }
  process.stdout.write(compiler.compile(readFileSync(0, "utf8")));
}

try {
  main();
} catch (error) {
  process.stderr.write(`tools/solc: ${error.message}\n`);
  process.exitCode = 1;
}
