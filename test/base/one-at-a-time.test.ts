import { describe, expect, it } from "vitest";
import { oneAtATime } from "../../base/one-at-a-time.ts";

describe("oneAtATime", () => {
  it("default: work runs in the order of calls, never two at once", async () => {
    const inTurn = oneAtATime();
    const seen: string[] = [];
    const work = (name: string, turns: number) => async () => {
      seen.push(`${name} begins`);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      seen.push(`${name} ends`);
      return name;
    };
    const all = await Promise.all([inTurn(work("a", 20)), inTurn(work("b", 1)), inTurn(work("c", 5))]);
    expect(all).toEqual(["a", "b", "c"]);
    expect(seen).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  it("error: what fails tells its own caller, and the next one runs", async () => {
    const inTurn = oneAtATime();
    const failed = inTurn(() => Promise.reject(new Error("no")));
    const thrown = inTurn(() => {
      throw new Error("at once");
    });
    const next = inTurn(async () => 1);
    await expect(failed).rejects.toThrow("no");
    await expect(thrown).rejects.toThrow("at once");
    expect(await next).toBe(1);
  });
});
