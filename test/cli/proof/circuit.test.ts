import { Command } from "commander";
import { afterEach, describe, expect, test, vi } from "vitest";
import { addProofCommands } from "../../../cli/proof/commands.ts";

afterEach(() => vi.restoreAllMocks());

/** Runs `assay proof circuit …`. @returns what it printed, and the error it ended with */
async function run(...argv: readonly string[]): Promise<{ printed: string; error: unknown }> {
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((text) => void lines.push(String(text)));
  const program = new Command("assay").exitOverride().configureOutput({ writeErr: () => {} });
  addProofCommands(program);
  const error = await program.parseAsync(["node", "assay", "proof", "circuit", ...argv]).then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return { printed: lines.join("\n"), error };
}

describe("assay proof circuit", () => {
  test("default: the constraints of every step", async () => {
    const { printed, error } = await run("forecast-vix");
    expect(error).toBeUndefined();
    const lines = printed.split("\n");
    expect(lines[0]).toMatch(/^constraints: [0-9]+, at most 16384$/);
    expect(lines[1]).toBe("domain: 2^13");
    expect(lines[4]).toBe("0: codec prices s32 [3, 64]: 3085 constraints, 6144 coefficients");
    const constraints = (line: string): number => Number(/: ([0-9]+) constraints/.exec(line)?.[1]);
    const sum = lines.slice(4).reduce((total, line) => total + constraints(line), 0);
    expect(lines[0]).toBe(`constraints: ${sum}, at most 16384`);
  });

  test("args: --json and --limit", async () => {
    const { printed, error } = await run("forecast-vix", "--limit", "5000", "--json");
    expect(JSON.parse(printed)).toMatchObject({ limit: 5000, fits: false, domain: 8192, publicSignals: 14 });
    expect(error).toMatchObject({ code: "CIRCUIT_TOO_LARGE" });
  });

  test("error: a limit that is no number", async () => {
    expect((await run("forecast-vix", "--limit", "0")).error).toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  test("error: a model that is too large prints its steps all the same", async () => {
    const { printed, error } = await run("sentiment");
    expect(printed).toContain("lookup sum s32 [32, 96]");
    expect(error).toMatchObject({ code: "CIRCUIT_TOO_LARGE" });
  });
});
