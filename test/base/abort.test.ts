import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { abortAfter } from "../../base/abort.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

const aborted = (signal: AbortSignal) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(signal.reason)));

describe("abortAfter", () => {
  it("default: aborts after the time, though nothing holds the signal but its listener", async () => {
    const other = new AbortController();
    const end = aborted(abortAfter(100, other.signal));
    for (let i = 0; i < 4; i++) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      collectGarbage();
    }
    expect(await end).toMatchObject({ name: "TimeoutError" });
  });

  it("behavior: another signal ends it with its own reason, once", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const signal = abortAfter(60_000, first.signal, second.signal);
    const end = aborted(signal);
    second.abort("enough");
    first.abort("late");
    expect(await end).toBe("enough");
    expect(signal.reason).toBe("enough");
  });

  it("behavior: what is aborted already aborts it at once", () => {
    const signal = abortAfter(60_000, new AbortController().signal, AbortSignal.abort("before"));
    expect(signal).toMatchObject({ aborted: true, reason: "before" });
  });

  it("behavior: a time that no timer takes is a long one", async () => {
    const signal = abortAfter(2 ** 40);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(signal.aborted).toBe(false);
  });
});
