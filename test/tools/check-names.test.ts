import { describe, expect, test } from "vitest";
import { inspectFile } from "../../tools/check-names.ts";

function messages(file: string, text: string): string[] {
  return inspectFile(file, text).map(({ severity, message }) => `${severity}: ${message}`);
}

describe("inspectFile", () => {
  test("default", () => {
    const text = `
      function test_claim_bondTooLow_reverts() public {}
      function testFuzz_claim_anyBond_succeeds(uint256 bondWei) public {}
      function invariant_creditsEqualReceived() public {}
      function setUp() public { vm.expectRevert(BondTooLow.selector); }`;
    expect(messages("test/contracts/Claims.t.sol", text)).toEqual([]);
  });

  test.each([
    "testClaim",
    "test_claim_reverts",
    "test_claim_bondTooLow",
    "testFail_claim_bondTooLow_reverts",
  ])("error: test name %s", (name) => {
    const found = messages("test/contracts/Claims.t.sol", `function ${name}() public {}`);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(name);
  });

  test("error: bare expectRevert", () => {
    expect(messages("test/contracts/A.t.sol", "vm.expectRevert();")).toMatchInlineSnapshot(`
      [
        "error: bare expectRevert(): name the error and its arguments",
      ]
    `);
    expect(messages("test/contracts/A.t.sol", "// never a bare vm.expectRevert();")).toEqual([]);
  });

  test("error: length of a source file", () => {
    expect(messages("protocol/claim.ts", "x\n".repeat(200))).toEqual([]);
    expect(messages("protocol/claim.ts", "x\n".repeat(201))).toEqual([
      "warning: 201 lines, better below 200",
    ]);
    expect(messages("protocol/claim.ts", "x\n".repeat(401))).toEqual([
      "error: 401 lines, at most 400: split it",
    ]);
    expect(messages("protocol/rules/generated/abis.ts", "x\n".repeat(401))).toEqual([]);
  });

  test("error: absolute path, registry host", () => {
    const path = ["", "home", "someone", "assay"].join("/");
    expect(messages("README.md", `run it in ${path}`)).toEqual(["error: absolute path of one machine"]);
    expect(messages("README.md", "GET /claims/home/7")).toEqual([]);
    const host = ["registry", "npmjs", "org"].join(".");
    expect(messages("package-lock.json", `https://${host}/viem`)).toEqual([
      "error: host of a package registry",
    ]);
  });

  test("error: a limit of time that the garbage collector may take", () => {
    const lost = `const both = AbortSignal.any([signal, ${"AbortSignal"}.timeout(9)]);`;
    expect(messages("agent/a.ts", lost)).toEqual(["error: a time that may never be over: abortAfter"]);
    expect(messages("agent/a.ts", `// ${lost}`)).toEqual([]);
    expect(messages("agent/a.ts", "AbortSignal.any([signal, over.signal])")).toEqual([]);
  });
});
