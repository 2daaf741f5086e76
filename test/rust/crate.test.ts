import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { CRATES, cargo } from "../support/rust.ts";

/** Parts of Rust that not every installation has. */
const has = (command: string): boolean =>
  spawnSync("cargo", [command, "--version"], { cwd: CRATES }).status === 0;

describe("crates", () => {
  test.runIf(has("fmt"))("behavior: all of them formatted", () => {
    expect(cargo(["fmt", "--all", "--check"])).toBe("");
  });

  test.runIf(has("clippy"))("behavior: no warning", () => {
    const strict = ["--workspace", "--all-targets", "--quiet", "--jobs", "2", "--", "-D", "warnings"];
    expect(cargo(["clippy", ...strict])).toBe("");
  });

  test("behavior: all vectors of test/vectors", () => {
    const printed = cargo(["test", "--jobs", "1", "--", "--nocapture"]);
    const results = [
      ...printed.matchAll(/^test result: (\w+)\. (\d+) passed; (\d+) failed; (\d+) ignored/gm),
    ];
    const sum = (group: number): number => results.reduce((total, found) => total + Number(found[group]), 0);
    process.stdout.write(
      `${printed
        .split("\n")
        .filter((line) => /^\S.*\d+ /.test(line))
        .join("\n")}\n`,
    );
    expect(sum(2)).toBeGreaterThanOrEqual(10);
    expect([sum(3), sum(4)]).toEqual([0, 0]);
  });
});
