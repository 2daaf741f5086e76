import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { hashSources } from "../../tools/compile.ts";

describe("hashSources", () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "assay-compile-"));
    mkdirSync(join(root, "contracts/types"), { recursive: true });
    writeFileSync(join(root, "contracts/A.sol"), "contract A {}");
    writeFileSync(join(root, "contracts/types/B.sol"), "type B is bytes32;");
  });

  afterEach(() => rmSync(root, { recursive: true }));

  test("default", () => {
    expect(hashSources(root, ["contracts"])).toBe(hashSources(root, ["contracts"]));
  });

  test("behavior: a changed, renamed or nested file changes the hash", () => {
    const hashes = [hashSources(root, ["contracts"])];
    writeFileSync(join(root, "contracts/types/B.sol"), "type B is bytes31;");
    hashes.push(hashSources(root, ["contracts"]));
    writeFileSync(join(root, "contracts/C.sol"), "");
    hashes.push(hashSources(root, ["contracts"]));
    rmSync(join(root, "contracts/C.sol"));
    writeFileSync(join(root, "contracts/D.sol"), "");
    hashes.push(hashSources(root, ["contracts"]));
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  test("behavior: files that are not Solidity count only when named as settings", () => {
    const before = hashSources(root, ["contracts"]);
    writeFileSync(join(root, "contracts/notes.md"), "notes");
    expect(hashSources(root, ["contracts"])).toBe(before);
    writeFileSync(join(root, "foundry.toml"), "[profile.default]");
    expect(hashSources(root, ["contracts"], ["foundry.toml"])).not.toBe(before);
  });

  test("args: a folder that does not exist is empty", () => {
    expect(hashSources(root, ["absent"])).toBe(hashSources(root, []));
  });
});
