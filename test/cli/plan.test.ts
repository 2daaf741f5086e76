/** `assay plan` as people read it, without a chain. */
import { describe, expect, test } from "vitest";
import { runInProcess } from "../support/assay.ts";

const plan = async (...args: string[]) => {
  const { code, stdout, stderr } = await runInProcess(["plan", "forecast-vix", "--offline", ...args]);
  return { code, stderr, stdout };
};

describe("assay plan", () => {
  test("default: a row for each method with its lane, in columns, with units", async () => {
    const { stdout } = await plan("--value", "0.5 ether", "--gas-price", "2gwei");
    const [head, titles = "", ...rows] = stdout.split("\n");
    expect(head).toBe("forecast-vix at 2 gwei a unit of gas, window 14,400 s");
    const methods = rows.slice(0, 5).map((row) => /^([* ]) (\w+) +([\w-]+)/.exec(row)?.slice(2, 4));
    expect(methods).toEqual([
      ["EXECUTION", "execution"],
      ["EXECUTION", "execution-compiled"],
      ["PROOF", "groth16"],
      ["PROOF", "ezkl"],
      ["BOND", "bond"],
    ]);
    expect(rows.filter((row) => row.startsWith("*"))).toHaveLength(2);
    const bond = rows[4] ?? "";
    // Numbers end where their titles end.
    const ends = ["COST A RESULT", "GAS A RESULT", "GAS ONCE", "FINAL AFTER", "LOCKED"].map(
      (title) => titles.indexOf(title) + title.length,
    );
    for (const row of rows.slice(0, 5).filter((one) => !one.includes("not available")))
      for (const end of ends) expect(row.slice(end - 1, end + 1)).toMatch(/^[\w-]( |$)/);
    expect(bond).toMatch(/0\.\d+ ether .* 14424\.0 s +0\.5001 ether$/);
    expect(stdout).toContain("groth16: a proof takes");
    expect(stdout).not.toMatch(/\d{9}/);
  });

  test("behavior: JSON has wei as whole numbers, with the unit in the name", async () => {
    const { stdout } = await plan("--value", "0.5ether", "--json");
    const { rows, gasPriceWei, windowSeconds } = JSON.parse(stdout);
    expect({ gasPriceWei, windowSeconds }).toEqual({ gasPriceWei: "1000000000", windowSeconds: 14_400 });
    expect(rows[4]).toMatchObject({ lane: "BOND", lockedWei: "500000000000000001", usable: true });
    expect(rows[4].costWei).toMatch(/^\d+$/);
  });

  test("error: what is no amount", async () => {
    const { code, stderr } = await plan("--value", "much");
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--value is "much": it must be wei, or a number with its unit'),
    });
  });
});
