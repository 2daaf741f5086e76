/** The completions that the parser takes, as a GBNF grammar: a small model that is held to it can be wrong, but not
 *  unreadable. */
import type { ParamType, Tool } from "../tool.ts";

/** Most words of a thought or an answer, and elements of a list, that a model held to the grammar writes. */
const MAX_WORDS = 40;
const MAX_ELEMENTS = 8;

const RULES = [
  `text ::= word (" " word){0,${MAX_WORDS - 1}}`,
  "word ::= [^ \\x00-\\x1f]+",
  `string ::= "\\"" ([^"\\\\\\x00-\\x1f] | "\\\\" ["\\\\/n])* "\\""`,
  'address ::= "\\"0x" [0-9a-f]{40} "\\""',
  'bool ::= "true" | "false"',
  'uint ::= "\\"" ("0" | [1-9] [0-9]{0,76}) "\\""',
  'int ::= "\\"" ("0" | "-"? [1-9] [0-9]{0,75}) "\\""',
] as const;

const SCALARS: Readonly<Record<ParamType, string>> = {
  STRING: "string",
  ADDRESS: "address",
  BOOL: "bool",
  INT: "int",
  UINT: "uint",
  STRING_ARRAY: "string",
  ADDRESS_ARRAY: "address",
  BOOL_ARAY: "bool",
  INT_ARRAY: "int",
  UINT_ARRAY: "uint",
};

export function completionGrammar(tools: readonly Tool[]): string {
  const actions = tools.map(({ name, params }, index) => {
    const entries = params.map(
      (param) => `${literal(`{"name":${JSON.stringify(param.name)},"value":`)} ${value(param.type)} "}"`,
    );
    const input = ['"["', entries.join(' "," '), '"]"'].filter((part) => part !== "").join(" ");
    return `tool${index} ::= ${literal(`Action: ${name}\nAction Input: `)} ${input}`;
  });
  const next = [...tools.map((_tool, index) => `tool${index}`), "answer"].join(" | ");
  return [
    `root ::= " "? text "\\n" (${next})`,
    'answer ::= "Final Answer: " text',
    ...actions,
    ...RULES,
    "",
  ].join("\n");
}

function value(type: ParamType): string {
  const scalar = SCALARS[type];
  if (!type.endsWith("ARRAY") && !type.endsWith("ARAY")) return scalar;
  return `"[" (${scalar} ("," ${scalar}){0,${MAX_ELEMENTS - 1}})? "]"`;
}

/** A GBNF literal. */
const literal = (text: string): string =>
  `"${text.replace(/["\\\p{Cc}]/gu, (found) => {
    if (found === "\n") return "\\n";
    if (found === '"' || found === "\\") return `\\${found}`;
    return `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`;
  })}"`;
