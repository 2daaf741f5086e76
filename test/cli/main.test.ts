import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { projectRoot } from "../../tools/foundry.ts";

describe("assay", () => {
  test("behavior: a reader that leaves before the end is no fault", async () => {
    const child = spawn(process.execPath, [join(projectRoot, "bin/assay.js"), "prover", "--help"], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.destroy();
    let complaints = "";
    child.stderr.on("data", (chunk: Buffer) => {
      complaints += chunk;
    });
    const [code] = await once(child, "close");
    expect({ code, complaints }).toEqual({ code: 0, complaints: "" });
  });
});
