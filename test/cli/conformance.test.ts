import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AREAS } from "../../conformance/areas/index.ts";
import { renderAnswer } from "../../conformance/lines.ts";
import { casesOf } from "../../conformance/run.ts";
import { answer } from "../../conformance/serve/answer.ts";
import { projectRoot } from "../../tools/foundry.ts";
import { runAssay, runInProcess } from "../support/assay.ts";

/** An implementation in one line of JavaScript: `i` counts lines, `line` is what is asked. */
const fake = (reply: string): string[] => [
  process.execPath,
  "-e",
  `let i = 0; require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const answer = i++ === 0 ? "ok lines program" : ${reply};
    if (answer !== undefined) console.log(answer);
  });`,
];

const run = (flags: readonly string[], command: readonly string[]) =>
  runInProcess(["conformance", "run", ...flags, "--", ...command]);
const STRUCTURE = ["--area", "structure", "--elements", "1"];

describe("assay conformance run", () => {
  test("default: the TypeScript implementation, through its own process", async () => {
    const serve = [process.execPath, join(projectRoot, "bin/assay.js"), "conformance", "serve"];
    const { code, stdout } = await run(["--elements", "5000"], serve);
    const lines = stdout.trim().split("\n");
    expect(lines[0]).toMatch(/^AREA +CASES +ELEMENTS +DIFFERENCES$/);
    expect(lines.slice(1, -1).map((line) => line.split(/ +/)[0])).toEqual(AREAS.map(({ name }) => name));
    expect(lines.at(-1)).toMatch(/^[\d,]+ elements of [\d,]+ cases compared, 0 differences$/);
    expect(code).toBe(0);
  });

  test("behavior: a difference ends with 1, and is shown with the command that asks it again", async () => {
    const { code, stdout, stderr } = await run(STRUCTURE, fake('"ok"'));
    expect(code).toBe(1);
    expect(stdout).toContain("structure: it is taken, and must be refused");
    expect(stdout).toMatch(
      / {2}assay conformance run --area structure --seed 1000000 --elements 1 -- \S+ -e '/,
    );
    expect(stderr).toMatch(/differs in structure/);
  });

  test("behavior: JSON has the whole line, the right answer and the found one", async () => {
    const { stdout } = await run([...STRUCTURE, "--json"], fake('"ok"'));
    const [{ first }] = JSON.parse(stdout).results;
    expect(first).toMatchObject({ expected: "refused", found: "ok", line: ["program", expect.any(String)] });
  });

  test("behavior: an area whose lines are not answered is not tried, and said", async () => {
    const { code, stdout } = await run(["--area", "limit", "ids", "--elements", "1"], fake('"refused x"'));
    expect(stdout).toContain("ids is not tried: the command does not answer model, request, claim");
    expect(stdout).toMatch(/1 areas not tried$/m);
    expect(code).toBe(1);
  });

  test.each([
    ["hangs: no answer within 10 s", "undefined"],
    ["ended: with exit code 9: no memory", '(console.error("no memory"), process.exit(9))'],
    ['answers something else: neither ok with words of bytes nor refused: "ok 0xabc"', '"ok 0xabc"'],
    ["answers something else: neither ok", '"12"'],
  ])("behavior: a command that %s: no difference", async (what, reply) => {
    // A process takes long to start on a busy machine.
    const timeout = reply === "undefined" ? "10" : "60";
    const { code, stdout, stderr } = await run([...STRUCTURE, "--timeout", timeout], fake(reply));
    expect(stdout).toContain(`structure: the command ${what}`);
    expect(stdout).toMatch(/0 differences, 1 areas not answered to the end$/m);
    expect([code, stderr]).toEqual([1, expect.stringContaining("No answer of it is wrong.")]);
  });

  test("error: a command that cannot be started, an area that is not there", async () => {
    const missing = await run(STRUCTURE, ["/nowhere/program"]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("cannot be started")]);
    const unknown = await run(["--area", "colours"], fake('"ok"'));
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining("structure, edges, limit")]);
  });
});

describe("assay conformance cases", () => {
  const file = join(projectRoot, "test/vectors/conformance.jsonl");

  test("default: what the file of vectors holds, which the implementation answers", async () => {
    const { stdout } = await runAssay(["conformance", "cases", "--elements", "1", "--longest", "10000"]);
    expect(stdout === readFileSync(file, "utf8")).toBe(true);
    for (const line of stdout.trim().split("\n")) {
      const { area, seed, line: asked, answer: right } = JSON.parse(line);
      expect(renderAnswer(await answer(asked)), `${area}, seed ${seed}`).toBe(right);
    }
  });
});

describe("casesOf", () => {
  test.each(AREAS.map((area) => [area.name, area] as const))(
    "behavior: %s has cases that are taken, and asks what it says",
    (_name, area) => {
      const cases = [...casesOf(area, 500, 50_000)];
      expect(cases.some(({ expected }) => expected !== "refused")).toBe(true);
      const asked = new Set(cases.map(({ line }) => line[0]));
      expect([...asked].sort()).toEqual([...area.lines].sort());
    },
  );
});
