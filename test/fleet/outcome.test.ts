/** What a fleet's run calls a double send: shown on plays that are made up. */
import { describe, expect, test } from "vitest";
import { type Sent, sentTwice } from "../support/fleet-run/outcome.ts";

let nonce = 0;
const sent = (name: string, succeeded: boolean, value = 0n): Sent => {
  nonce += 1;
  return { hash: `0x${nonce.toString(16)}`, nonce, move: name, name, value, succeeded };
};

describe("sentTwice", () => {
  test("default: different moves, one that ran out of gas before it was taken, two withdrawals, an owed answer of two daemons", () => {
    const moves = [
      ...[sent("claim", false, 5n), sent("claim", true, 5n)],
      ...[sent("withdraw", true), sent("withdraw", true)],
      ...[sent("reveal", true), sent("reveal", false)],
    ];
    expect(sentTwice(moves)).toEqual([]);
  });

  test("error: a bond that is put at stake again, whether or not the contract takes it, and an answer that is taken twice", () => {
    expect(sentTwice([sent("claim", true, 5n), sent("claim", false, 5n)])).toHaveLength(1);
    expect(sentTwice([sent("challenge", true, 5n), sent("challenge", true, 5n)])).toHaveLength(1);
    expect(sentTwice([sent("reveal", true), sent("reveal", true)])).toHaveLength(1);
  });
});
