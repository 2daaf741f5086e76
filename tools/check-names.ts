/** Checks what no linter knows: names of contract tests, exact reverts, lengths of files, limits of time that are lost, and
 *  that no tracked file names a folder of one machine or a package registry. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { projectRoot } from "./foundry.ts";
import { listFiles } from "./tracked-files.ts";

const MAX_LINES = 400;
const ADVISED_LINES = 200;

const SOURCE = /\.(tsx?|js|cjs|mjs|sol|py|sh|sql)$/;
const NOT_WRITTEN_BY_HAND = /(^|\/)generated\/|^test\/vectors\/|^package-lock\.json$/;
const CONTRACT_TEST = /^test\/contracts\/.*\.sol$/;

const TEST_FUNCTION = /\bfunction\s+((?:test|invariant|statefulFuzz)\w*)/g;
const GOOD_TEST_NAME = /^(?:test|testFuzz)_[a-z]\w*?_[a-zA-Z0-9]+_(?:reverts|succeeds)$|^invariant_[a-z]\w*$/;
const BARE_REVERT = /\bexpectRevert\s*\(\s*\)/;
const MACHINE_PATH = /(?:^|[\s"'`(=:])\/(?:work|home|root|Users)\/[\w.-]/;
const REGISTRY =
  /registry\.(?:npmjs|yarnpkg)\.|npm\.pkg\.github\.|files\.pythonhosted\.|static\.crates\.|"resolved"\s*:/;
/** Forgotten by the garbage collector: see base/abort.ts. */
const LOST_TIMEOUT = /AbortSignal\.any\(.*AbortSignal\.timeout\(/;

export type Finding = {
  readonly file: string;
  readonly line: number;
  readonly message: string;
  readonly severity: "error" | "warning";
};

/** Findings for one tracked file.
 *  @param file path from the repository's root, with forward slashes */
export function inspectFile(file: string, text: string): Finding[] {
  const findings: Finding[] = [];
  const report = (line: number, message: string, severity: Finding["severity"] = "error") =>
    findings.push({ file, line, message, severity });

  const lines = text.split("\n");
  const count = text.endsWith("\n") ? lines.length - 1 : lines.length;
  if (SOURCE.test(file) && !NOT_WRITTEN_BY_HAND.test(file)) {
    if (count > MAX_LINES) report(count, `${count} lines, at most ${MAX_LINES}: split it`);
    else if (count > ADVISED_LINES) report(count, `${count} lines, better below ${ADVISED_LINES}`, "warning");
  }
  for (const [index, line] of lines.entries()) {
    if (MACHINE_PATH.test(line)) report(index + 1, "absolute path of one machine");
    if (REGISTRY.test(line)) report(index + 1, "host of a package registry");
    if (/\.tsx?$/.test(file) && LOST_TIMEOUT.test(line.replace(/^\s*(\/\/|\/?\*).*$/, "")))
      report(index + 1, "a time that may never be over: abortAfter");
    if (CONTRACT_TEST.test(file)) inspectContractTestLine(line, (message) => report(index + 1, message));
  }
  return findings;
}

function inspectContractTestLine(line: string, report: (message: string) => void): void {
  const code = line.replace(/\/\/.*$/, "");
  if (BARE_REVERT.test(code)) report("bare expectRevert(): name the error and its arguments");
  for (const [, name = ""] of code.matchAll(TEST_FUNCTION)) {
    if (!GOOD_TEST_NAME.test(name)) {
      report(
        `${name}: expected test_<function>_<reason>_<reverts|succeeds>, testFuzz_… alike, or invariant_<rule>`,
      );
    }
  }
}

function main(): void {
  const findings = listFiles().flatMap((file) => {
    const bytes = readFileSync(join(projectRoot, file));
    return bytes.includes(0) ? [] : inspectFile(file, bytes.toString("utf8"));
  });
  for (const { file, line, message, severity } of findings) {
    console.log(`${file}:${line}: ${severity}: ${message}`);
  }
  if (findings.some(({ severity }) => severity === "error")) process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main();
