/** Checks that what the documents name is there: files, tests by name in docs/INVARIANTS.md, and documents that code
 *  cites. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "./foundry.ts";
import { listFiles } from "./tracked-files.ts";

/** Ours: a path begins with one of these folders or is relative to the document; with @ it is a package's. */
const PATH = /^(?!@)[\w@.-]+(?:\/[\w@.-]+)*\.(?:ts|sol|md|json|jsonc|py|cjs|js|sql|svg|toml|yml|yaml|sh)$/;
/** A bare name of JSON or Python stands for a user's own file, or for one that a program writes. */
const EXAMPLE = /^[\w-]+\.(?:json|py)$/;
const TEST_NAME = /^[a-z]\w*$/;
const CODE = /\.(?:ts|cjs|mjs|sol|py|sql)$/;

interface Tree {
  /** true for a file or folder of the tree, by path from its root */
  has(path: string): boolean;
  read(path: string): string;
  /** all files of this name, wherever they are */
  named(name: string): readonly string[];
}

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Files and tests that a document names and that are not there.
 *  @param file the document's path from the root */
export function checkDocument(file: string, text: string, tree: Tree): Finding[] {
  const findings: Finding[] = [];
  let named: string | undefined;
  let isCode = false;
  for (const [index, line] of text.split("\n").entries()) {
    const report = (message: string): void => void findings.push({ file, line: index + 1, message });
    if (/^\s*```/.test(line)) isCode = !isCode;
    if (isCode) continue;
    if (/^(?:[-*|#]|$)/.test(line)) named = undefined;
    for (const [, target = ""] of line.matchAll(/\]\(([^)#\s]+)[^)]*\)/g)) {
      if (/^[a-z]+:/.test(target)) continue;
      const path = normalize(join(dirname(file), target));
      if (!tree.has(path)) report(`links to ${target}, which is not there`);
    }
    for (const [, token = ""] of line.matchAll(/`([^`]+)`/g)) {
      if (PATH.test(token) && !EXAMPLE.test(token)) {
        const folders = [".", dirname(file), "test", "test/contracts", dirname(named ?? ".")];
        const alike = token.includes("/") ? [] : tree.named(token);
        const found =
          folders.map((folder) => normalize(join(folder, token))).find((path) => tree.has(path)) ??
          (alike.length === 1 ? alike[0] : undefined);
        if (found === undefined)
          report(`names ${token}, which ${alike.length > 1 ? "several folders have" : "is not there"}`);
        named = found;
      } else if (named?.endsWith(".t.sol") && TEST_NAME.test(token)) {
        const isTest = new RegExp(`function (?:test_|testFuzz_)?${token}(?:_succeeds|_reverts)?\\(`);
        if (!isTest.test(tree.read(named))) report(`names the test ${token}, which ${named} does not have`);
      }
    }
  }
  return findings;
}

/** Documents that a source file cites and that are not there. */
export function checkCitations(file: string, text: string, tree: Tree): Finding[] {
  return text
    .split("\n")
    .flatMap((line, index) =>
      [...line.matchAll(/\bdocs\/[\w-]+\.md\b/g)]
        .filter(([cited]) => !tree.has(cited))
        .map(([cited]) => ({ file, line: index + 1, message: `cites ${cited}, which is not there` })),
    );
}

function main(): void {
  const files = listFiles();
  const tree: Tree = {
    named: (name) => files.filter((file) => basename(file) === name),
    has: (path) => existsSync(join(projectRoot, path)),
    read: (path) => readFileSync(join(projectRoot, path), "utf8"),
  };
  const findings = files.flatMap((file) => {
    if (file.endsWith(".md")) return checkDocument(file, tree.read(file), tree);
    return CODE.test(file) && !file.startsWith("test/tools/")
      ? checkCitations(file, tree.read(file), tree)
      : [];
  });
  for (const { file, line, message } of findings) console.log(`${file}:${line}: error: ${message}`);
  if (findings.length > 0) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
