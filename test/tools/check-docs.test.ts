import { describe, expect, test } from "vitest";
import { checkCitations, checkDocument } from "../../tools/check-docs.ts";

const FILES: Readonly<Record<string, string>> = {
  "docs/GUIDE.md": "",
  "prover/main.ts": "",
  "test/prover/main.test.ts": "",
  "test/contracts/assay/Money.t.sol": "function test_finalize_paysProver_succeeds() external {",
  "prover/lanes/source.ts": "",
  "agent/source.ts": "",
};
const TREE = {
  has: (path: string) => path in FILES,
  read: (path: string) => FILES[path] as string,
  named: (name: string) => Object.keys(FILES).filter((path) => path.endsWith(`/${name}`)),
};
const messages = (text: string) =>
  checkDocument("docs/PAGE.md", text, TREE).map(({ line, message }) => `${line}: ${message}`);

describe("checkDocument", () => {
  test("default: what is there", () => {
    const text = [
      "[guide](GUIDE.md#part), `prover/main.ts`, `prover/main.test.ts`, a user's `inputs.json`,",
      "`contracts/assay/Money.t.sol` `finalize_paysProver`, [elsewhere](https://example.org)",
      "`main.test.ts`",
    ];
    expect(messages(text.join("\n"))).toEqual([]);
    expect(messages("`assay/Money.t.sol` `finalize_paysProver`")).toEqual([]);
  });

  test("error: a file, a link or a test that is gone, a name that several files have", () => {
    expect(messages("`prover/gone.ts`")).toEqual(["1: names prover/gone.ts, which is not there"]);
    expect(messages("line\n[page](GONE.md)")).toEqual(["2: links to GONE.md, which is not there"]);
    expect(messages("`assay/Money.t.sol` `finalize_other`")).toEqual([
      "1: names the test finalize_other, which test/contracts/assay/Money.t.sol does not have",
    ]);
    expect(messages("`source.ts`")).toEqual(["1: names source.ts, which several folders have"]);
  });

  test("behavior: code blocks are examples", () => {
    expect(messages("```\n`prover/gone.ts`\n```\n`prover/gone.ts`")).toHaveLength(1);
  });
});

describe("checkCitations", () => {
  test("error: a document that is not there", () => {
    const text = "// docs/GUIDE.md\n// docs/GONE.md, section 2";
    expect(checkCitations("prover/main.ts", text, TREE)).toEqual([
      { file: "prover/main.ts", line: 2, message: "cites docs/GONE.md, which is not there" },
    ]);
  });
});
