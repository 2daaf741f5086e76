import { describe, expect, test } from "vitest";
import { addCounts, countForge, countVitest, formatCounts } from "../../tools/test.ts";

describe("countForge", () => {
  test("default", () => {
    const output = `Suite result: FAILED. 2 passed; 1 failed; 1 skipped; finished in 1ms
Ran 2 test suites in 3.54ms (932.06µs CPU time): 3 tests passed, 1 failed, 1 skipped (5 total tests)

Encountered a total of 1 failing tests, 3 tests succeeded`;
    expect(countForge(output)).toEqual({ passed: 3, failed: 1, skipped: 1 });
  });

  test("args: output without a summary", () => {
    expect(countForge("Nothing to compile\n")).toBeUndefined();
  });
});

describe("countVitest", () => {
  const report = { numPassedTests: 4, numFailedTests: 1, numPendingTests: 1, numTodoTests: 1 };

  test("default", () => {
    const testResults = [{ status: "failed", assertionResults: [{ status: "failed" }] }];
    expect(countVitest(JSON.stringify({ ...report, testResults }))).toEqual({
      passed: 4,
      failed: 1,
      skipped: 2,
    });
  });

  test("behavior: a file that cannot be loaded is a failure", () => {
    const testResults = [{ status: "failed", assertionResults: [] }];
    expect(countVitest(JSON.stringify({ ...report, numFailedTests: 0, testResults })).failed).toBe(1);
  });
});

describe("formatCounts", () => {
  test("default", () => {
    const sum = addCounts({ passed: 1, failed: 0, skipped: 0 }, { passed: 2, failed: 0, skipped: 0 });
    expect(formatCounts(sum)).toBe("3 passed, 0 failed");
    expect(formatCounts({ ...sum, skipped: 1 })).toBe("3 passed, 0 failed, 1 skipped");
  });
});
