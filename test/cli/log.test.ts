/** How long-running commands log: what a terminal shows, what a collector reads. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";
import { runNode } from "../support/assay.ts";

/** Logs a line of each level, by the program's own flags. */
const LOGS = `
import { Command } from "commander";
import { createLogger } from ${JSON.stringify(join(projectRoot, "cli/log.ts"))};
const isTerminal = process.argv.includes("--terminal");
const command = new Command().option("--log-format <f>").option("--log-level <l>").option("--terminal").option("--config <c>");
try {
  const log = createLogger("prover", command.parse(), { isTerminal });
  for (const level of ["debug", "info", "warn"]) log[level]({ wei: 10n ** 20n, claim: "0xab" }, level + " line");
  log.error({ error: new Error("the cause") }, "error line");
} catch (error) { console.log(error.message); }
`;
const run = async (args: readonly string[], env: Record<string, string> = {}) => {
  const program = ["--import", "tsx", "--input-type=module", "-e", LOGS, "--", ...args];
  const { stdout, stderr } = await runNode(program, { NO_COLOR: "", ...env });
  expect(stderr).toBe("");
  return stdout.trimEnd().split("\n");
};
const ESCAPE = "\u001b";
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("createLogger", () => {
  test("default: JSON with ISO times, levels by name, amounts as text, from info on", async () => {
    const lines = (await run([])).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ["info", "info line"],
      ["warn", "warn line"],
      ["error", "error line"],
    ]);
    expect(lines[0]).toMatchObject({
      name: "prover",
      wei: `${10n ** 20n}`,
      time: expect.stringMatching(TIME),
    });
    expect(lines[2]).toMatchObject({ error: { message: "the cause" } });
  });

  test("behavior: a terminal shows a line for people, with colours unless NO_COLOR says otherwise", async () => {
    const plain = await run(["--terminal"], { NO_COLOR: "1" });
    expect(plain.slice(0, 2).map((line) => line.replace(/^\[[^\]]*\]/, "[…]"))).toEqual([
      '[…] INFO: info line {"wei":"100000000000000000000","claim":"0xab"}',
      '[…] WARN: warn line {"wei":"100000000000000000000","claim":"0xab"}',
    ]);
    expect(plain[0]?.slice(1, 25)).toMatch(TIME);
    expect(plain.join("\n")).toContain("the cause");
    expect(plain.join()).not.toContain(ESCAPE);
    expect((await run(["--terminal"])).join()).toContain(`${ESCAPE}[32mINFO${ESCAPE}[39m`);
  });

  test("args: --log-format and --log-level, variables, and flags before them", async () => {
    expect((await run(["--log-format", "pretty"]))[0]).toMatch(/^\[[\dT:.Z-]+\] INFO: info line/);
    expect(JSON.parse((await run(["--terminal", "--log-format", "json"]))[0] as string)).toMatchObject({
      level: "info",
    });
    expect(await run(["--log-level", "debug"])).toHaveLength(4);
    expect(await run([], { ASSAY_LOG_LEVEL: "error" })).toHaveLength(1);
    expect(await run(["--log-level", "warn"], { ASSAY_LOG_LEVEL: "error" })).toHaveLength(2);
  });

  test("error: another format or level", async () => {
    expect(await run(["--log-format", "xml"])).toEqual([
      expect.stringContaining('logFormat is "xml" (from --log-format): must be pretty or json.'),
    ]);
    expect(await run([], { ASSAY_LOG_LEVEL: "loud" })).toEqual([
      expect.stringContaining(
        'logLevel is "loud" (from ASSAY_LOG_LEVEL): must be debug, info, warn or error.',
      ),
    ]);
  });
});
