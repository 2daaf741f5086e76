import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { COMPLETE_EXAMPLE } from "../support/agent-metadata.ts";
import { runInProcess } from "../support/assay.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-metadata-"));
afterAll(() => rmSync(folder, { recursive: true }));
function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}
const complete = file("complete.json", COMPLETE_EXAMPLE);
const FETCH = COMPLETE_EXAMPLE.abi[0]!;

describe("assay metadata validate", () => {
  // shows: S-11, S-23, D-71
  test("default: problems, advice and selectors, also as JSON", async () => {
    const plain = await runInProcess(["metadata", "validate", complete]);
    expect(plain).toMatchObject({ code: 0, stderr: "" });
    expect(plain.stdout).toContain("0xe207bc0c fetch(string,string)");
    expect(plain.stdout).toContain("warning: $.container_image");
    const json = await runInProcess(["metadata", "validate", complete, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: true,
      errors: [],
      methods: [{ selector: "0xe207bc0c" }],
    });
  });

  // shows: S-49
  test("error: every broken rule, and exit code 1", async () => {
    const broken = file("broken.json", { ...COMPLETE_EXAMPLE, version: "1.0", tags: [1], abi: [] });
    const { code, stdout, stderr } = await runInProcess(["metadata", "validate", broken, "--json"]);
    expect(code).toBe(1);
    const { errors } = JSON.parse(stdout) as { errors: { path: string }[] };
    expect(errors.map(({ path }) => path)).toEqual(["$.version", "$.abi", "$.tags[0]"]);
    expect(JSON.parse(stderr).error.code).toBe("METADATA_INVALID");
  });

  test("error: no file", async () => {
    const missing = await runInProcess(["metadata", "validate", join(folder, "none.json"), "--json"]);
    expect([missing.code, JSON.parse(missing.stderr).error.code]).toEqual([1, "FILE_UNREADABLE"]);
  });
});

describe("assay metadata compare", () => {
  const compare = async (change: object) => {
    const { code, stdout } = await runInProcess([
      "metadata",
      "compare",
      complete,
      file("next.json", { ...COMPLETE_EXAMPLE, ...change }),
      "--json",
    ]);
    return [code, (JSON.parse(stdout) as { faults: string[] }).faults.length];
  };
  const renamed = [{ ...FETCH, name: "get" }];
  const changed = [{ ...FETCH, outputs: [] }];
  const added = [FETCH, { ...FETCH, name: "get" }];

  // shows: S-53
  test("default: major for what breaks, minor for what is new, patch for the rest", async () => {
    for (const abi of [renamed, changed]) {
      for (const version of ["1.0.0", "1.0.1", "1.1.0"]) expect((await compare({ abi, version }))[0]).toBe(1);
      expect(await compare({ abi, version: "2.0.0" })).toEqual([0, 0]);
    }
    expect(await compare({ abi: added, version: "1.0.1" })).toEqual([1, 1]);
    expect(await compare({ abi: added, version: "1.1.0" })).toEqual([0, 0]);
    expect(await compare({ description: "Better" })).toEqual([1, 1]);
    expect(await compare({ description: "Better", version: "1.0.1" })).toEqual([0, 0]);
    expect(await compare({ version: "0.9.0" })).toEqual([1, 1]);
    expect(await compare({})).toEqual([0, 0]);
  });
});

describe("assay metadata from-solidity", () => {
  // shows: S-36
  test("default: the abi alone; with --json what was left out as well", async () => {
    const source = file(
      "I.sol",
      "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0; interface I { event E(); " +
        "function fetch(string calldata url, string calldata selector) external returns (string memory result); }",
    );
    const { stdout } = await runInProcess(["metadata", "from-solidity", source]);
    expect(JSON.parse(stdout)).toEqual([{ ...FETCH, stateMutability: "nonpayable" }]);
    const json = await runInProcess(["metadata", "from-solidity", source, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ contract: "I", leftOut: ["event E"] });
  });
});
