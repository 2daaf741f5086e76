/** Checks that source, logs and documents use the words of docs/GLOSSARY.md: none that the field has another word for,
 *  and none of the phrases that are no English. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { projectRoot } from "./foundry.ts";
import { listFiles } from "./tracked-files.ts";

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** What must not stand in any text, and what to write instead. Word by word, not part of a longer word. */
const PHRASES: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bsieges?\b/gi, "adversarial soak test"],
  [/\bplaintiffs?\b/gi, "malicious challenger"],
  [/\bpurses?\b/gi, "budget"],
  [/\bconduct\b/gi, "behaviour"],
  [
    /\bplanted (?:tickets?|demands?)\b|(?<!faults to )\bplants?\b(?! (?:a |an |the )?(?:faults?|bugs?|mutants?)\b)/gi,
    "sybil ticket",
  ],
  [/\bby[- ]hand\b/gi, "manually, manual"],
  [/\b(?:claim|event|request)s?[- ]?books?\b|\bClaimBook\b/gi, "index"],
  [/\bsu(?:ed|es|its?) (?:a |the |every )?(?:claims?|provers?)\b/gi, "dispute"],
  [/\blane[- ]turns?\b|\bturned (?:tensor|matrix|matrices)\b/gi, "transpose"],
  [/(?<!\b(?:SIMD|Keccak) )\blanes? of \d+ bits/gi, "SIMD lane: lane alone is a way to finality"],
  [/\b(?:the|an) own\b/gi, "its own, the prover's, or another owner by name"],
  [/(?<!\b(?:there|there was) )\bis none\b(?! (?:of|else)\b)/gi, "is no …, or there is none"],
];
/** Python's `is None` is no English at all. */
const PROSE_FREE = /\.py$/;

/** Identifiers of TypeScript that say with an everyday word what has a term. */
const IDENTIFIERS: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/^(?:says?|said|tells?|told|says?Once)$/, "log, emit, answer, or what it holds"],
  [/^(?:looks?|looked|hears?|heard)$/, "poll, observe, read"],
  [/^(?:plants?|sues?|sued|suits?)$/, "sybil, dispute"],
  [/^(?:book|hand|standing|means|purse|conduct)$/, "index, sender, state, methods, budget, behaviour"],
];

/** Generated or written by others: vectors, specifications, the licence, models' data. */
const NOT_OURS =
  /(?:^|\/)generated\/|^test\/vectors\/|^package-lock\.json$|^LICENSE$|^docs\/(?:SPECS\.md|specs\.json)$|^models\/.*\.(?:json|onnx|bin|svg|txt)$/;
const TEXT = /\.(?:ts|js|cjs|mjs|sol|py|sh|sql|md|json|jsonc|yml|yaml|toml|html|css)$|^\.ci\/run$/;
const SCRIPT = /\.(?:ts|js|mjs|cjs)$/;
/** This list, and its test. */
const LISTS = /^(?:tools\/check-glossary\.ts|test\/tools\/check-glossary\.test\.ts)$/;

/** Findings of one file. @param file path from the root */
export function checkWords(file: string, text: string): Finding[] {
  if (NOT_OURS.test(file) || LISTS.test(file) || !TEXT.test(file)) return [];
  const findings: Finding[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    for (const [pattern, instead] of PHRASES) {
      if (PROSE_FREE.test(file) && pattern.source.includes("none")) continue;
      for (const [found] of line.matchAll(pattern)) {
        findings.push({ file, line: index + 1, message: `"${found}": write ${instead}` });
      }
    }
  }
  return SCRIPT.test(file) ? [...findings, ...checkIdentifiers(file, text)] : findings;
}

function checkIdentifiers(file: string, text: string): Finding[] {
  const findings: Finding[] = [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest);
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) {
      const name = node.text.replace(/^#/, "");
      const rule = IDENTIFIERS.find(([pattern]) => pattern.test(name));
      if (rule !== undefined) {
        const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
        findings.push({ file, line, message: `identifier ${node.text}: write ${rule[1]}` });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return findings;
}

function main(): void {
  const findings = listFiles()
    .filter((file) => TEXT.test(file) && !NOT_OURS.test(file))
    .flatMap((file) => checkWords(file, readFileSync(join(projectRoot, file), "utf8")));
  for (const { file, line, message } of findings) console.log(`${file}:${line}: ${message}`);
  if (findings.length > 0) {
    console.log(`${findings.length} words that the glossary replaces (docs/GLOSSARY.md).`);
    process.exitCode = 1;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
