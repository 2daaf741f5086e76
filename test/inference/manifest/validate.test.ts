import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

import { toHex } from "../../../base/bytes.ts";
import { selectorOf, typeFault } from "../../../inference/manifest/abi.ts";
import { cidOf, isCid } from "../../../inference/manifest/cid.ts";
import { tar } from "../../../inference/manifest/tar.ts";
import { validateManifest } from "../../../inference/manifest/validate.ts";
import { parseVersion, versionFaults } from "../../../inference/manifest/version.ts";
import { sha256Bytes } from "../../../inference/model-folder.ts";

/** The complete example of specs/003. */
const EXAMPLE = {
  name: "json-selector",
  description: "Fetches JSON from a URL and extracts values using selectors",
  image: "https://example.com/agent-logo.png",
  container_image: "ipfs://QmExampleContainerCID",
  version: "1.0.0",
  author: "Somnia Team",
  abi: [
    {
      type: "function",
      name: "fetch",
      inputs: [
        { name: "url", type: "string" },
        { name: "selector", type: "string" },
      ],
      outputs: [{ name: "result", type: "string" }],
    },
  ],
  tags: ["utility", "json", "oracle"],
  homepage: "https://somnia.network/agents/json-selector",
  repository: "https://github.com/example/json-selector-agent",
  external_url: "https://somnia.network/agents/1",
  attributes: [{ trait_type: "Category", value: "Oracle" }],
};
const FETCH = EXAMPLE.abi[0] as (typeof EXAMPLE.abi)[number];

const errorsOf = (change: Record<string, unknown>): string[] =>
  validateManifest({ ...EXAMPLE, ...change }).errors.map((e) => e.path);
const withFunction = (change: Record<string, unknown>): string[] =>
  errorsOf({ abi: [{ ...FETCH, ...change }] });
const withType = (type: string, more: object = {}): string[] =>
  withFunction({ inputs: [{ name: "a", type, ...more }] });

const SHIPPED = JSON.parse(
  readFileSync(join(import.meta.dirname, "../../../models/policy/manifest.json"), "utf8"),
);

describe("validateManifest", () => {
  it("error: files have an ONNX file or a recipe, not both and not neither", () => {
    const { "model.onnx": onnx, ...rest } = SHIPPED.assay.files;
    const messages = (files: object): string[] =>
      validateManifest({ ...SHIPPED, assay: { ...SHIPPED.assay, files } }).errors.map((e) => e.message);
    expect(messages({ ...rest, "model.onnx": onnx })).toEqual([]);
    expect(messages({ ...rest, "recipe.json": onnx })).toEqual([]);
    expect(messages(rest)).toEqual(["must name model.onnx or recipe.json, names neither"]);
    expect(messages({ ...rest, "model.onnx": onnx, "recipe.json": onnx })).toEqual([
      "must name model.onnx or recipe.json, names model.onnx and recipe.json",
    ]);
  });

  // shows: S-11, S-50, D-72
  it("default: the text's complete example is valid, its CID only warns", () => {
    const { errors, warnings } = validateManifest(EXAMPLE);
    expect(errors).toEqual([]);
    expect(warnings.map((w) => w.path)).toContain("$.container_image");
  });

  // shows: S-02, S-04, S-05, S-12
  it("error: each required field missing, of another type, empty or in camelCase", () => {
    for (const key of ["name", "description", "container_image", "version", "abi"]) {
      expect(errorsOf({ [key]: undefined })).toEqual([`$.${key}`]);
      expect(errorsOf({ [key]: 7 })).toEqual([`$.${key}`]);
      expect(errorsOf({ [key]: key === "abi" ? [] : " " })).toEqual([`$.${key}`]);
    }
    expect(errorsOf({ container_image: undefined, containerImage: "ipfs://x" })).toEqual([
      "$.container_image",
    ]);
  });

  // shows: S-03, D-72
  it("args: container images", () => {
    for (const image of ["https://example.com/a", "ipfs://anything", `Qm${"a".repeat(44)}`])
      expect(errorsOf({ container_image: image })).toEqual([]);
    for (const image of ["ftp://x", "docker.io/x", "/tmp/x"])
      expect(errorsOf({ container_image: image })).toEqual(["$.container_image"]);
  });

  // shows: S-06, S-07, S-08, S-09, S-10
  it("args: optional fields", () => {
    expect(errorsOf({ tags: ["a", 1] })).toEqual(["$.tags[1]"]);
    expect(errorsOf({ homepage: "no url", repository: 1 })).toEqual(["$.homepage", "$.repository"]);
    expect(errorsOf({ attributes: [{ trait_type: "x" }] })).toEqual(["$.attributes[0].value"]);
    expect(
      errorsOf({
        image: undefined,
        author: undefined,
        tags: undefined,
        homepage: undefined,
        attributes: undefined,
      }),
    ).toEqual([]);
  });

  // shows: S-04, S-48
  it("args: versions", () => {
    for (const version of ["1.0", "v1.0.0", "01.0.0", "1.0.0-", "1.0.0-01"])
      expect(errorsOf({ version })).toEqual(["$.version"]);
    for (const version of ["1.0.0-rc.1+build.7", "0.0.0"]) expect(errorsOf({ version })).toEqual([]);
  });

  // shows: S-13, S-14, S-37, S-42, S-46, S-47, S-50, D-70
  it("args: functions", () => {
    expect(withFunction({ name: undefined })).toEqual(["$.abi[0].name"]);
    expect(withFunction({ outputs: undefined })).toEqual(["$.abi[0].outputs"]);
    expect(withFunction({ inputs: [], outputs: [] })).toEqual([]);
    for (const type of ["event", "error", "constructor", undefined])
      expect(withFunction({ type })).toEqual(["$.abi[0].type"]);
    for (const name of ["a-b", "1a", "", "contract", "uint256"])
      expect(withFunction({ name })).toEqual(["$.abi[0].name"]);
    for (const name of ["_a", "$a", "getUserData"]) expect(withFunction({ name })).toEqual([]);
    expect(withFunction({ inputs: undefined })).toEqual(["$.abi[0].inputs"]);
    expect(
      withFunction({
        stateMutability: "nonpayable",
        inputs: [{ name: "u", type: "string", internalType: "string" }],
      }),
    ).toEqual([]);
    expect(errorsOf({ abi: [FETCH, { ...FETCH, inputs: [] }] })).toEqual(["$.abi[1].name"]);
    const same = [{ name: "result", type: "string" }];
    expect(withFunction({ inputs: same, outputs: same })).toEqual(["$.abi[0].outputs[0].name"]);
    expect(withFunction({ inputs: [...same, ...same], outputs: [] })).toEqual(["$.abi[0].inputs[1].name"]);
    const unnamed = [
      { name: "", type: "string" },
      { name: "", type: "bool" },
    ];
    expect(withFunction({ inputs: unnamed, outputs: [{ type: "string" }] })).toEqual([]);
    expect(withFunction({ inputs: [{ type: "string" }] })).toEqual(["$.abi[0].inputs[0].name"]);
    const tuple = { name: "result", type: "tuple", components: [...same, ...same] };
    expect(withFunction({ inputs: [tuple] })).toEqual(
      ["$.abi[0].outputs[0].name", "$.abi[0].inputs[0].components[1].name"].reverse(),
    );
    expect(
      validateManifest({ ...EXAMPLE, abi: [{ ...FETCH, name: "get_user" }] }).warnings.map((w) => w.path),
    ).toContain("$.abi[0].name");
  });

  // shows: S-46
  it("error: two functions of one selector", () => {
    const f = (name: string, type: string) => ({ ...FETCH, name, inputs: [{ name: "x", type }] });
    expect(errorsOf({ abi: [f("burn", "uint256"), f("collate_propagate_storage", "bytes16")] })).toEqual([
      "$.abi[1]",
    ]);
  });

  // shows: S-15, S-17, S-43, S-44, S-45, D-68, D-69
  it("args: parameter types at every depth", () => {
    for (const type of [
      "uint8",
      "bytes4",
      "address[]",
      "uint256[3][]",
      "int24[2]",
      "function",
      "fixed128x18",
    ])
      expect(withType(type)).toEqual([]);
    for (const type of [
      "uint7",
      "uint",
      "int",
      "bytes33",
      "float",
      "uint256[0]",
      "uint256[-1]",
      "uint256[a]",
      "[]uint256",
      "uint256[",
      "uint264",
      "fixed",
      "fixed128x81",
      "bytes8x1",
      "uint256 ",
      "Uint256",
      "uint0256",
    ]) {
      expect(withType(type)).toEqual(["$.abi[0].inputs[0].type"]);
    }
    for (const type of ["tuple", "tuple[]", "tuple[2]"]) {
      expect(withType(type)).toEqual(["$.abi[0].inputs[0].components"]);
      expect(withType(type, { components: [] })).toEqual(["$.abi[0].inputs[0].components"]);
      expect(withType(type, { components: [{ name: "x", type: "uint7" }] })).toEqual([
        "$.abi[0].inputs[0].components[0].type",
      ]);
      const deep = [{ name: "t", type: "tuple[]", components: [{ name: "a", type: "bool" }] }];
      expect(withType(type, { components: deep })).toEqual([]);
    }
    expect(withType("string", { components: [] })).toEqual([]);
    expect(typeFault("")).toBeDefined();
  });

  // shows: S-49
  it("behavior: every problem is reported", () => {
    expect(errorsOf({ name: 1, version: "x", tags: {} })).toEqual(["$.name", "$.version", "$.tags"]);
    expect(validateManifest([]).errors.map((e) => e.path)).toEqual(["$"]);
  });
});

describe("selectorOf", () => {
  // shows: S-20, S-23, S-28, S-30, D-71
  it("default: canonical types, tuples expanded", () => {
    const of = (name: string, inputs: Parameters<typeof selectorOf>[0]["inputs"]): string =>
      toHex(selectorOf({ name, inputs }));
    const s = { type: "string" };
    expect(of("fetch", [s, s])).toBe("0xe207bc0c");
    expect(of("greet", [s])).toBe("0xead710c4");
    expect(of("request", [s, { type: "string[]" }, { type: "string[]" }])).toBe("0xa31b4644");
    const order = { type: "tuple", components: [s, { type: "uint256" }, { type: "address" }] };
    expect(of("createOrder", [order])).toBe("0x6c2d582f");
    expect(of("processUser", [order])).toBe("0xc0860860");
  });
});

describe("versionFaults", () => {
  const of = (version: string, ...names: string[]) => ({
    version,
    abi: names.map((name) => ({ ...FETCH, type: "function" as const, name })),
  });
  // shows: S-53
  it("default: a removed function needs a major version, a new one a minor", () => {
    expect(versionFaults(of("1.2.0", "a"), of("1.3.0", "b"))).toHaveLength(1);
    expect(versionFaults(of("1.2.0", "a"), of("2.0.0", "b"))).toEqual([]);
    expect(versionFaults(of("1.2.0", "a"), of("1.2.1", "a", "b"))).toHaveLength(1);
    expect(versionFaults(of("1.2.0", "a"), of("1.3.0", "a", "b"))).toEqual([]);
    expect(versionFaults(of("1.2.0", "a"), of("1.1.9", "a"))).toEqual(["version 1.1.9 is older than 1.2.0"]);
    const changed = {
      ...of("1.3.0", "a"),
      abi: [{ ...FETCH, type: "function" as const, name: "a", outputs: [] }],
    };
    expect(versionFaults(of("1.2.0", "a"), changed)).toHaveLength(1);
    expect(parseVersion("10.20.30")).toEqual([10, 20, 30]);
  });
});

describe("cidOf", () => {
  // Computed by ipfs-unixfs-importer with raw leaves, chunks of 262,144 bytes and at most 174 children a node.
  it.each([
    [
      "text",
      new TextEncoder().encode("hello world"),
      "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e",
    ],
    ["nothing", new Uint8Array(0), "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"],
    [
      "one whole chunk",
      new Uint8Array(262_144),
      "bafkreiekhhjkxu4ztk3tyng3er3ijhg56mb44oe3gwbgquhzu4afrg2ksa",
    ],
    ["three chunks", new Uint8Array(600_000), "bafybeib7pcuusxw7atqqc4apxvkezssdjbqkkhymjpo5x7bsj5sytn2ph4"],
    [
      "two levels of nodes",
      Uint8Array.from({ length: 262_144 * 174 + 5 }, (_, i) => (i * 7) & 255),
      "bafybeidgerlx625oiywdqgklfx3uqylchpgcm3e7ia2jemoc7pxzgfcxsu",
    ],
  ])("default: %s", (_name, content, cid) => {
    expect(cidOf(content, sha256Bytes)).toBe(cid);
    expect(isCid(cid)).toBe(true);
  });
});

describe("tar", () => {
  it("default: ustar blocks whose checksum holds", () => {
    const archive = tar([{ name: "a.txt", content: new TextEncoder().encode("abc") }]);
    expect(archive.length).toBe(512 * 4);
    const sum = archive
      .slice(0, 512)
      .reduce((total, byte, i) => total + (i >= 148 && i < 156 ? 32 : byte), 0);
    expect(Number.parseInt(new TextDecoder().decode(archive.slice(148, 154)), 8)).toBe(sum);
  });
});
