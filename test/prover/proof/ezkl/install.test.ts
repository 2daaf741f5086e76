import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { installEzkl } from "../../../../prover/proof/ezkl/install.ts";

const temporary = mkdtempSync(join(tmpdir(), "assay-install-"));
afterAll(() => rmSync(temporary, { recursive: true }));

/** An interpreter that says a version, and does nothing else. */
function python(name: string, body: string): string {
  const path = join(temporary, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  return path;
}

// The real installation: test/ezkl/system.test.ts.
describe("installEzkl", () => {
  const folder = join(temporary, "ezkl");

  it("error: no Python", async () => {
    await expect(installEzkl({ folder, python: join(temporary, "none") })).rejects.toMatchObject({
      code: "PYTHON_MISSING",
    });
    expect(existsSync(folder)).toBe(false);
  });

  it("error: an old Python", async () => {
    await expect(installEzkl({ folder, python: python("old", "echo 3 8") })).rejects.toMatchObject({
      code: "PYTHON_TOO_OLD",
      shortMessage: expect.stringContaining("is version 3.8; ezkl needs at least 3.9."),
    });
    expect(existsSync(folder)).toBe(false);
  });

  it("error: a failed installation says why", async () => {
    const broken = python("broken", 'test "$1" = -c && echo 3 11 && exit 0\necho "no disk" >&2\nexit 7');
    await expect(installEzkl({ folder, python: broken })).rejects.toMatchObject({
      code: "EZKL_INSTALL_FAILED",
      retryable: true,
      shortMessage: expect.stringContaining("ended with 7: no disk"),
    });
  });
});
