import { describe, expect, test } from "vitest";
import { completeLock } from "../../tools/complete-lock.ts";

describe("completeLock", () => {
  const parent = {
    version: "2.0.0",
    dev: true,
    optionalDependencies: { "@x/tool-linux-x64-musl": "2.0.0", "@x/tool-darwin-amd64": "2.0.0" },
  };
  const present = { version: "2.0.0", os: ["darwin"] };

  test("default", () => {
    const { lock, added } = completeLock({
      packages: { "": {}, "node_modules/tool": parent, "node_modules/@x/tool-darwin-amd64": present },
    });
    expect(added).toEqual(["@x/tool-linux-x64-musl"]);
    expect(lock.packages["node_modules/@x/tool-darwin-amd64"]).toBe(present);
    expect(lock.packages["node_modules/@x/tool-linux-x64-musl"]).toEqual({
      version: "2.0.0",
      cpu: ["x64"],
      dev: true,
      libc: ["musl"],
      optional: true,
      os: ["linux"],
    });
  });

  test("behavior: leaves other optional packages out", () => {
    const other = { optionalDependencies: { fsevents: "2.3.3", "@x/tool-linux-x64": "^2.0.0" } };
    expect(completeLock({ packages: { "node_modules/tool": other } }).added).toEqual([]);
  });
});
