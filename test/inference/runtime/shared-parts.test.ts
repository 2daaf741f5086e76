/** What a thread does while the other one has a part. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { SharedParts } from "../../../inference/runtime/shared-parts.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("SharedParts", () => {
  const offered = () => {
    const parts = new SharedParts();
    expect(parts.offer({ step: 0, tensors: 0, from: 0, to: 6 }, 2)).toBe(3);
    expect(parts.take()).toEqual({ step: 0, tensors: 0, from: 4, to: 6 });
    return parts;
  };

  it("behavior: a stop of the process, which a wait counts as its time, loses no thread", () => {
    const parts = offered();
    const wait = vi.spyOn(Atomics, "wait");
    wait.mockReturnValueOnce("timed-out").mockImplementationOnce(() => {
      parts.finish();
      return "ok";
    });
    expect(parts.awaitDone(1, 60_000)).toBe(true);
    expect(wait).toHaveBeenCalledTimes(2);
  });

  it("behavior: a thread is lost that finishes no part while the time passes again and again", () => {
    const parts = offered();
    let waitedMs = 0;
    vi.spyOn(Atomics, "wait").mockImplementation((_counts, _field, _value, ms) => {
      waitedMs += ms ?? 0;
      if (waitedMs !== 59_000) return "timed-out";
      parts.finish();
      return "ok";
    });
    expect(parts.awaitDone(2, 60_000)).toBe(false);
    // The time of the second part begins when the first one is finished.
    expect(waitedMs).toBe(59_000 + 60_000);
  });
});
