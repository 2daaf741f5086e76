import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type BaseError, isBaseError } from "../../../../base/errors.ts";
import { runStage, type WorkerOptions } from "../../../../prover/proof/ezkl/worker.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-worker-"));
afterAll(() => rmSync(folder, { recursive: true }));

let scripts = 0;
/** A worker that misbehaves: this program's own interpreter runs it in Python's place. */
function worker(body: string): WorkerOptions {
  const path = join(folder, `${scripts++}`);
  const text = `const fs = require("node:fs"); const request = JSON.parse(fs.readFileSync(0, "utf8")); ${body}`;
  writeFileSync(`${path}-ezkl_worker.py`, text);
  const wrapper = `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(`${path}-ezkl_worker.py`)}\n`;
  writeFileSync(`${path}-python`, wrapper, { mode: 0o755 });
  return { python: `${path}-python` };
}

const answer = (value: object): string => `console.log(${JSON.stringify(JSON.stringify(value))})`;

async function failure(options: WorkerOptions): Promise<BaseError> {
  const error: unknown = await runStage(options, "version", {}).catch((thrown: unknown) => thrown);
  if (isBaseError(error)) return error;
  throw new Error("no BaseError", { cause: error });
}

describe("runStage", () => {
  it("default", async () => {
    const ok = { ok: true, version: "1.2.3", seconds: 0.5, memoryBytes: 7 };
    expect(await runStage(worker(answer(ok)), "version", {})).toEqual(ok);
  });

  it("behavior: numbers of a witness are field elements", async () => {
    const ok = { ok: true, inputs: [["1", "2"]], outputs: [["3"]], seconds: 1, memoryBytes: 7 };
    const files = { data: "d", circuit: "c", witness: "w" };
    const { inputs, outputs } = await runStage(worker(answer(ok)), "witness", files);
    expect({ inputs, outputs }).toEqual({ inputs: [[1n, 2n]], outputs: [[3n]] });
  });

  it("behavior: only the proof system's own word is a verdict", async () => {
    const files = { proof: "p", settings: "s", vk: "v", srs: "r" };
    const ok = { ok: true, valid: false, seconds: 1, memoryBytes: 7 };
    expect(await runStage(worker(answer(ok)), "verify", files)).toMatchObject({ valid: false });
    const broken = worker(
      answer({ ok: false, error: "RuntimeError: no such file", seconds: 1, memoryBytes: 7 }),
    );
    await expect(runStage(broken, "verify", files)).rejects.toThrow(
      "ezkl's stage verify failed: RuntimeError",
    );
  });

  it("error: not installed", async () => {
    const error = await failure({ python: join(folder, "none") });
    expect(error.code).toBe("EZKL_MISSING");
    expect(error.nextStep).toBe("Install it with `assay proof ezkl install`.");
  });

  it("error: an environment without the package", async () => {
    const error = await failure(
      worker(
        answer({
          ok: false,
          error: "ModuleNotFoundError: No module named 'ezkl'",
          seconds: 0,
          memoryBytes: 0,
        }),
      ),
    );
    expect(error.code).toBe("EZKL_MISSING");
  });

  it.each([
    ["process.exit(3)", "it ended with exit code 3 and no answer"],
    [
      'process.kill(process.pid, "SIGSEGV"); setInterval(() => 0, 1000)',
      "it ended with SIGSEGV and no answer",
    ],
    ['console.log("{}")', "it ended with exit code 0 and an unreadable answer"],
    ['console.log("not JSON")', "it ended with exit code 0 and an unreadable answer"],
    [answer({ ok: true, version: 7, seconds: 1, memoryBytes: 1 }), "and an unreadable answer"],
    [answer({ ok: false, error: "PanicException: k is too small" }), "PanicException: k is too small"],
  ])("error: %s", async (body, why) => {
    const error = await failure(worker(body));
    expect(error.code).toBe("EZKL_FAILED");
    expect(error.shortMessage).toContain(why);
  });

  it("error: too slow", async () => {
    const error = await failure({ ...worker("setInterval(() => 0, 1000)"), timeoutMs: 50 });
    expect(error.code).toBe("EZKL_TIMEOUT");
    expect(error.shortMessage).toBe("ezkl's stage version took longer than 50 ms and was ended.");
    expect(error.retryable).toBe(true);
  });

  it("error: cancelled", async () => {
    const controller = new AbortController();
    const running = failure({ ...worker("setInterval(() => 0, 1000)"), signal: controller.signal });
    controller.abort();
    expect((await running).code).toBe("EZKL_CANCELLED");
    const before = await failure({ ...worker("setInterval(() => 0, 1000)"), signal: AbortSignal.abort() });
    expect(before.code).toBe("EZKL_CANCELLED");
  });
});
