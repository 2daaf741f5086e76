import { describe, expect, it, vi } from "vitest";
import { fromHex, toHex } from "../../base/bytes.ts";
import { createRng } from "../support/rng.ts";

describe("toHex", () => {
  it("default: with the platform's Buffer and without it the same text, which fromHex reads", async () => {
    vi.stubGlobal("Buffer", undefined);
    vi.resetModules();
    const browsers = await import("../../base/bytes.ts");
    vi.unstubAllGlobals();
    const rng = createRng(5);
    for (let i = 0; i < 300; i++) {
      const all = rng.bytes(rng.int(0, 200));
      // A part of larger memory.
      const bytes = all.subarray(rng.int(0, all.length >> 1));
      const text = toHex(bytes);
      expect(browsers.toHex(bytes)).toBe(text);
      expect(fromHex(text)).toEqual(Uint8Array.from(bytes));
    }
    expect(toHex(Uint8Array.of(0, 10, 255))).toBe("0x000aff");
  });
});
