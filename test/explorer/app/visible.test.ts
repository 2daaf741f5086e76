import { describe, expect, it } from "vitest";
import { shortAmount } from "../../../explorer/app/parts/short-amount.ts";
import { visible, visibleRuns } from "../../../explorer/app/parts/visible.ts";

describe("visibleRuns", () => {
  it("default: text without controls is one run", () => {
    expect(visibleRuns("bullish, café 利益 😀")).toEqual([
      { text: "bullish, café 利益 😀", isControl: false },
    ]);
  });

  it("behavior: what turns the direction of writing or has no width stands for itself", () => {
    for (const point of [
      0x200b, 0x200f, 0x202e, 0x2066, 0x061c, 0xfeff, 0x00ad, 0x3164, 0x2028, 0xe0041, 0x7f,
    ]) {
      const escaped = `\\u{${point.toString(16)}}`;
      expect(visibleRuns(`a${String.fromCodePoint(point)}b`)).toEqual([
        { text: "a", isControl: false },
        { text: escaped, isControl: true },
        { text: "b", isControl: false },
      ]);
      expect(visible(`a${String.fromCodePoint(point)}b`)).toBe(`a${escaped}b`);
    }
  });
});

describe("shortAmount", () => {
  it("args: four digits, rounded half up, with a unit", () => {
    expect(shortAmount(0n)).toBe("0 ETH");
    expect(shortAmount(10n ** 18n)).toBe("1 ETH");
    expect(shortAmount(1_234_550_000_000_000_000n)).toBe("1.235 ETH");
    expect(shortAmount(-999_950_000_000_000_000n)).toBe("-1 ETH");
    expect(shortAmount(1_500_000_000n)).toBe("1.5 gwei");
    expect(shortAmount(7n)).toBe("7 wei");
  });
});
