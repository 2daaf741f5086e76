import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { placesOf } from "../../cli/completion/tree.ts";
import { createProgram, loadCommands } from "../../cli/program.ts";
import { runInProcess } from "../support/assay.ts";
import { temporaryFolder } from "../support/deploy.ts";

const script = async (shell: string): Promise<string> => (await runInProcess(["completion", shell])).stdout;
const has = (shell: string): boolean => spawnSync(shell, ["-c", "true"]).status === 0;

/** Words that a shell offers after a line, by the script and the shell itself. */
const offers: Readonly<Record<string, (script: string, line: string) => string[]>> = {
  bash: (source, line) =>
    run(
      "bash",
      `${source}\nCOMP_WORDS=(${bashWords(line)}); COMP_CWORD=${line.split(" ").length - 1}; _assay; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  // The functions of zsh's own completion system, which needs a terminal.
  zsh: (source, line) =>
    run(
      "zsh",
      `compdef() {}; _files() {}; _describe() { print -l -- "\${described[@]%%:*}"; }
${source}
words=(${bashWords(line)}); CURRENT=${line.split(" ").length}; _assay`,
    ).filter((word) => word.startsWith(line.split(" ").at(-1) as string)),
  fish: (source, line) =>
    run("fish", `${source}\ncomplete -C '${line}'`).map((word) => word.split("\t")[0] as string),
};

const bashWords = (line: string): string =>
  line
    .split(" ")
    .map((word) => `'${word}'`)
    .join(" ");

function run(shell: string, source: string): string[] {
  // From a file, as shells load it: one argument may not be as long as that.
  const folder = temporaryFolder();
  const file = join(folder.path, "source");
  writeFileSync(file, source);
  const { stdout, stderr, error } = spawnSync(shell, [...(shell === "zsh" ? ["-f"] : []), file], {
    encoding: "utf8",
    env: { PATH: process.env.PATH ?? "", HOME: "/nonexistent" },
  });
  folder.remove();
  if (error !== undefined) throw error;
  expect(stderr).toBe("");
  return stdout.split("\n").filter((word) => word !== "");
}

describe("placesOf", () => {
  test("default: every command is a place, with the program's own options", async () => {
    const places = placesOf(createProgram(await loadCommands()));
    const paths = places.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(["", "challenger", "challenger watch", "model import"]));
    expect(new Set(paths).size).toBe(paths.length);
    for (const place of places) {
      expect(place.options.map(({ word }) => word)).toEqual(expect.arrayContaining(["--config", "--help"]));
      expect(place.options.every(({ word }) => word.startsWith("--"))).toBe(true);
    }
  });
});

describe.each(["bash", "zsh", "fish"])("assay completion %s", (shell) => {
  const complete = offers[shell] as (script: string, line: string) => string[];

  test.runIf(has(shell))("default: commands, then their own, then options", async () => {
    const source = await script(shell);
    expect(complete(source, "assay chal")).toEqual(["challenger"]);
    expect(complete(source, "assay challenger w")).toEqual(["watch"]);
    expect(complete(source, "assay --debug challenger dry")).toEqual(["dry-run"]);
    const options = complete(source, "assay challenger watch --max");
    expect(options).toEqual(expect.arrayContaining(["--max-fee", "--max-exposure"]));
    expect(complete(source, "assay prover --withdraw").sort()).toEqual(["--withdraw-above"]);
  });

  test.runIf(has(shell))("behavior: after an option with a value no command is offered", async () => {
    expect(complete(await script(shell), "assay challenger watch --data ch")).not.toContain("challenger");
  });

  test("behavior: descriptions never leave their quotes", async () => {
    const source = await script(shell);
    expect(source).toContain("assay");
    if (has(shell)) expect(run(shell, `compdef() {}\n`.repeat(shell === "zsh" ? 1 : 0) + source)).toEqual([]);
  });
});

describe("assay completion", () => {
  test("error: a shell that is not known", async () => {
    const { code } = await runInProcess(["completion", "tcsh"]);
    expect(code).toBe(2);
  });
});
