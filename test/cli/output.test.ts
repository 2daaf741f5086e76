/** What a command says of what it met. */
import { expect, it, vi } from "vitest";
import { EXIT, reportError } from "../../cli/output.ts";
import { createClient } from "../../protocol/chain/connect.ts";

it("error: a node that does not answer is no fault of this program, wherever it was asked", async () => {
  // Nothing listens there.
  const fault = await createClient("http://127.0.0.1:1/key", 1_000, 0)
    .getBlock()
    .catch((error: unknown) => error);
  const printed: string[] = [];
  vi.spyOn(console, "error").mockImplementation((line) => void printed.push(String(line)));
  expect(reportError(fault, { json: true })).toBe(EXIT.retryable);
  expect(reportError(new TypeError("of this program"))).toBe(EXIT.unexpected);
  vi.restoreAllMocks();
  const { error } = JSON.parse(printed[0] as string);
  expect(error).toMatchObject({ code: "RPC_UNREACHABLE", retryable: true });
  expect(error.message).toBe("Could not ask the node at http://127.0.0.1:1: HTTP request failed.");
});
