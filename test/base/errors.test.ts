import { describe, expect, test, vi } from "vitest";
import { BaseError, isBaseError } from "../../base/errors.ts";

const facts = { code: "TOO_LONG", shortMessage: "The text has 9 bytes; the limit is 8." };

describe("BaseError", () => {
  test("behavior: errors of another copy of the class count, other errors do not", async () => {
    vi.resetModules();
    const copy = await import("../../base/errors.ts");
    expect(copy.BaseError).not.toBe(BaseError);
    const error = new copy.BaseError(facts);
    expect(error).toBeInstanceOf(BaseError);
    expect(isBaseError(error, "TOO_LONG")).toBe(true);
    expect(isBaseError(error, "TOO_SHORT")).toBe(false);
    for (const other of [new Error("no"), { ...facts, name: "BaseError" }, null, undefined, "TOO_LONG"]) {
      expect(isBaseError(other)).toBe(false);
    }
  });
});
