import { describe, expect, it } from "vitest";
import { readMetadata, requireMetadata } from "../../../agent/metadata/read.ts";
import {
  METADATA_ADVICE,
  METADATA_LIMITS,
  METADATA_RULES,
} from "../../../inference/manifest/metadata-rules.ts";
import { AGENT_EXAMPLES, COMPLETE_EXAMPLE } from "../../support/agent-metadata.ts";

const bytesOf = (value: unknown) =>
  new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value));
const FETCH = COMPLETE_EXAMPLE.abi[0]!;
const withAbi = (...abi: unknown[]) => ({ ...COMPLETE_EXAMPLE, abi });
const withInput = (input: object) => withAbi({ ...FETCH, inputs: [input] });
const rulesOf = (value: unknown) => readMetadata(bytesOf(value)).errors.map(({ rule }) => rule);
const tuple = (depth: number): object =>
  depth === 0 ? { name: "x", type: "bool" } : { name: "x", type: "tuple", components: [tuple(depth - 1)] };

describe("readMetadata", () => {
  // shows: S-11, S-32, S-33, S-35
  it("default: the text's examples are valid and read unchanged", () => {
    for (const example of [COMPLETE_EXAMPLE, ...AGENT_EXAMPLES]) {
      const { metadata, errors } = readMetadata(bytesOf(example));
      expect(errors).toEqual([]);
      expect(metadata).toEqual(example);
    }
  });

  // shows: S-37, D-70
  it("behavior: the compiler's internalType is dropped, stateMutability kept, components only of tuples", () => {
    const input = { name: "url", type: "string", internalType: "string", components: [] };
    const { metadata } = readMetadata(
      bytesOf(withAbi({ ...FETCH, inputs: [input], stateMutability: "nonpayable" })),
    );
    expect(metadata?.abi[0]).toEqual({
      ...FETCH,
      inputs: [{ name: "url", type: "string" }],
      stateMutability: "nonpayable",
    });
  });

  // shows: S-49
  it("behavior: three faults yield three problems with their paths and rules", () => {
    const faulty = {
      ...withInput({ name: "t", type: "tuple[]", components: [{ name: "a", type: "uint7" }] }),
      version: "1.0",
      tags: ["a", 1],
    };
    expect(readMetadata(bytesOf(faulty)).errors.map(({ path, rule }) => [path, rule])).toEqual([
      ["$.version", "version"],
      ["$.abi[0].inputs[0].components[0].type", "type"],
      ["$.tags[1]", "form"],
    ]);
  });

  const CASES: readonly [keyof typeof METADATA_RULES, unknown][] = [
    ["required", { ...COMPLETE_EXAMPLE, version: undefined }],
    ["form", { ...COMPLETE_EXAMPLE, author: 7 }],
    ["container-image", { ...COMPLETE_EXAMPLE, container_image: "docker.io/x" }],
    ["url", { ...COMPLETE_EXAMPLE, homepage: "here" }],
    ["version", { ...COMPLETE_EXAMPLE, version: "v1.0.0" }],
    ["abi-not-empty", withAbi()],
    ["functions-only", withAbi({ ...FETCH, type: "event" })],
    ["mutability", withAbi({ ...FETCH, stateMutability: "constant" })],
    ["method-name", withAbi({ ...FETCH, name: "a-b" })],
    ["method-unique", withAbi(FETCH, { ...FETCH, inputs: [] })],
    [
      "selector-unique",
      withAbi(
        { ...FETCH, name: "burn", inputs: [{ name: "x", type: "uint256" }] },
        { ...FETCH, name: "collate_propagate_storage", inputs: [{ name: "x", type: "bytes16" }] },
      ),
    ],
    ["parameter-name", withInput({ name: "1a", type: "bool" })],
    ["parameter-unique", withInput({ name: "result", type: "bool" })],
    ["type", withInput({ name: "x", type: "float" })],
    ["array-syntax", withInput({ name: "x", type: "bool[0]" })],
    ["tuple-components", withInput({ name: "x", type: "tuple[2]" })],
    ["limit", withInput({ name: "x", type: `bool${"[]".repeat(METADATA_LIMITS.arrayDimensions + 1)}` })],
  ];
  // shows: S-42, S-43, S-44, S-45, S-46, S-47, S-48
  it.each(CASES)("error: the rule %s, broken alone", (rule, faulty) => {
    expect(rulesOf(faulty)).toEqual([rule]);
  });
  it("behavior: no rule and no advice is without a case that breaks it", () => {
    expect(new Set(CASES.map(([rule]) => rule))).toEqual(new Set(Object.keys(METADATA_RULES)));
    const poor = withInput({ name: "user_name", type: "bool" });
    const { homepage: _, ...without } = { ...poor, colour: "red" };
    const { errors, warnings } = readMetadata(bytesOf(without));
    expect(errors).toEqual([]);
    expect(new Set(warnings.map(({ rule }) => rule))).toEqual(new Set(Object.keys(METADATA_ADVICE)));
  });

  // shows: S-50, S-51
  it("behavior: conventions warn and do not refuse", () => {
    const { metadata, warnings } = readMetadata(bytesOf(withAbi({ ...FETCH, name: "get_user" })));
    expect(metadata).toBeDefined();
    expect(warnings.map(({ path, rule }) => `${path} ${rule}`)).toEqual(
      expect.arrayContaining(["$.abi[0].name camel-case", "$.abi[0].inputs[0].description described"]),
    );
  });

  it("error: hostile files end in problems or a named error, soon", () => {
    expect(() => readMetadata(new Uint8Array(METADATA_LIMITS.bytes + 1))).toThrow("at most 1048576");
    expect(() => readMetadata(Uint8Array.of(0x22, 0xff, 0x22))).toThrow("not UTF-8");
    expect(() => readMetadata(bytesOf("{"))).toThrow("cannot be read");
    const deep = (open: string, close: string) => open.repeat(100_000) + close.repeat(100_000);
    expect(() => readMetadata(bytesOf(deep("[", "]")))).toThrow("nests deeper than 64");
    const nested = `{"name":${deep("[", "]")}}`;
    expect(() => readMetadata(bytesOf(nested))).toThrow("nests deeper than 64");
    expect(rulesOf("[[]]")).toEqual(["form"]);
    expect(
      rulesOf('{"name":[[]],"assay":{"format":[[]],"selfTest":[{"outputHash":[[]]}]}}').length,
    ).toBeGreaterThan(5);
    expect(rulesOf(withInput(tuple(METADATA_LIMITS.tupleDepth)))).toEqual([]);
    expect(rulesOf(withInput(tuple(METADATA_LIMITS.tupleDepth + 1)))).toEqual(["limit"]);
    expect(() => rulesOf(withInput(tuple(1_000)))).toThrow("nests deeper than 64");
    expect(rulesOf(withAbi(...Array(METADATA_LIMITS.functions + 1).fill(FETCH)))).toEqual(["limit"]);
    const many = Array.from({ length: METADATA_LIMITS.parameters + 1 }, () => ({ name: "", type: "bool" }));
    expect(rulesOf(withAbi({ ...FETCH, inputs: many }))).toEqual(["limit"]);
    expect(rulesOf(withInput({ name: "x", type: `bool${"[]".repeat(200_000)}` }))).toEqual(["limit"]);
    expect(rulesOf(withInput({ name: "x", type: `bool[${"9".repeat(10)}]` }))).toEqual(["limit"]);
  });

  it("behavior: no message carries control or direction characters of the file, or a megabyte of it", () => {
    const evil = "\u001b[2J\u202e\u0090".repeat(5_000);
    const { errors, warnings } = readMetadata(
      bytesOf({ ...withInput({ name: evil, type: evil }), version: evil, [evil]: 1 }),
    );
    const shown = [...errors, ...warnings].map(({ path, message }) => path + message).join("");
    expect(shown).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(shown.length).toBeLessThan(10_000);
  });

  it("behavior: __proto__ is a field as any other", () => {
    const text = JSON.stringify(COMPLETE_EXAMPLE).replace("{", '{"__proto__":{"name":1},');
    expect(readMetadata(bytesOf(text)).warnings.map(({ path }) => path)).toContain('$["__proto__"]');
  });
});

describe("requireMetadata", () => {
  it("error: METADATA_INVALID names all problems", () => {
    expect(() => requireMetadata(bytesOf({ ...COMPLETE_EXAMPLE, name: 1, version: "x" }), "a.json")).toThrow(
      /a\.json breaks 2 rule\(s\):\n\$\.name: .*\n\$\.version: /,
    );
  });
});
