/** Writes the tables of docs/AGENT-METADATA.md from the code: `npx tsx test/support/make-agent-docs.ts`. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { TOOL_TYPES } from "../../agent/metadata/tool-parameters.ts";
import { METADATA_ADVICE, METADATA_LIMITS, METADATA_RULES } from "../../inference/manifest/metadata-rules.ts";

const FILE = "docs/AGENT-METADATA.md";
const LIMITS: Readonly<Record<keyof typeof METADATA_LIMITS, string>> = {
  bytes: "bytes of the file",
  functions: "methods",
  parameters: "entries of one list of inputs, outputs or components",
  tupleDepth: "tuples inside one another",
  arrayDimensions: "array suffixes of a type",
};

const table = (head: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`).join("\n");

/** By the name between `<!-- name -->` and `<!-- /name -->`. */
const TABLES: Readonly<Record<string, string>> = {
  rules: table(
    ["rule", "what holds"],
    Object.entries(METADATA_RULES).map(([rule, text]) => [`\`${rule}\``, text]),
  ),
  advice: table(
    ["advice", "what should hold"],
    Object.entries(METADATA_ADVICE).map(([rule, text]) => [`\`${rule}\``, text]),
  ),
  limits: table(
    ["most", "of"],
    Object.entries(METADATA_LIMITS).map(([name, most]) => [
      most.toLocaleString("en-US"),
      LIMITS[name as keyof typeof LIMITS],
    ]),
  ),
  types: table(
    ["ABI type", "`ParamType`"],
    Object.entries(TOOL_TYPES).map(([abi, type]) => [`\`${abi}\``, `\`${type}\``]),
  ),
};

/** The page with the code's tables in it. */
export function withTables(page: string): string {
  return Object.entries(TABLES).reduce((text, [name, content]) => {
    const [start, end] = [`<!-- ${name} -->\n`, `<!-- /${name} -->`];
    const [before, rest] = text.split(start);
    const after = rest?.split(end)[1];
    if (before === undefined || after === undefined) throw new Error(`${FILE} has no place for ${name}`);
    return `${before}${start}${content}\n${end}${after}`;
  }, page);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(FILE, withTables(readFileSync(FILE, "utf8")));
}
