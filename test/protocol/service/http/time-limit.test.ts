import { EventEmitter } from "node:events";
import type { Response } from "express";
import { expect, test } from "vitest";
import { withinTime } from "../../../../protocol/service/http/time-limit.ts";

const response = () => Object.assign(new EventEmitter(), { destroyed: false }) as unknown as Response;
const limit = { timeoutMs: 600_000, late: () => expect.unreachable("it is late") };

test("behavior: where one of several runs fails the others are told that nobody waits for them", async () => {
  const signals: AbortSignal[] = [];
  const runs = (signal: AbortSignal) => {
    const waiting = Array.from({ length: 20 }, () => {
      signals.push(signal);
      return new Promise<void>((resolve) => {
        signal.addEventListener("abort", () => resolve());
      });
    });
    return Promise.all([...waiting, Promise.reject(new Error("lost"))]);
  };
  await expect(withinTime(response(), limit, runs)).rejects.toThrow("lost");
  expect(signals.map(({ aborted }) => aborted)).toEqual(Array(20).fill(true));
});

test("behavior: what ends well is not aborted", async () => {
  let given: AbortSignal | undefined;
  const work = async (signal: AbortSignal) => {
    given = signal;
    return 7;
  };
  expect(await withinTime(response(), limit, work)).toBe(7);
  expect(given?.aborted).toBe(false);
});
