import { describe, expect, it } from "vitest";
import { contentsOf, withContents } from "../../../../inference/onnx/proto/splice.ts";

/** A graph with a name, a field that nobody reads (13), inputs a and b (11) apart from each other, and an output. */
const GRAPH = Uint8Array.from([
  ...[0x12, 1, 0x67],
  ...[0x5a, 3, 0x0a, 1, 0x61],
  ...[0x6a, 2, 9, 9],
  ...[0x5a, 3, 0x0a, 1, 0x62],
  ...[0x62, 0],
]);
const info = (name: number): Uint8Array => Uint8Array.of(0x0a, 1, name);

describe("contentsOf", () => {
  it("default", () => {
    expect(contentsOf("Graph", GRAPH, "input")).toEqual([info(0x61), info(0x62)]);
    expect(contentsOf("Graph", GRAPH, "node")).toEqual([]);
  });
});

describe("withContents", () => {
  it("behavior: every other byte stays, fields that nobody reads included", () => {
    expect([...withContents("Graph", GRAPH, "input", [info(0x63)])]).toEqual([
      ...[0x12, 1, 0x67],
      ...[0x5a, 3, 0x0a, 1, 0x63],
      ...[0x6a, 2, 9, 9],
      ...[0x62, 0],
    ]);
  });

  it("behavior: the same contents are the same bytes", () => {
    const bytes = GRAPH.subarray(0, 8);
    expect(withContents("Graph", bytes, "input", contentsOf("Graph", bytes, "input"))).toEqual(bytes);
  });

  it("behavior: a field that is not there goes before those of higher numbers, or to the end", () => {
    const held = Uint8Array.of(0x12, 0, 0x62, 0);
    expect([...withContents("Graph", held, "input", [info(1)])]).toEqual([
      0x12, 0, 0x5a, 3, 0x0a, 1, 1, 0x62, 0,
    ]);
    expect([...withContents("Graph", held.subarray(0, 2), "input", [info(1)])]).toEqual([
      0x12, 0, 0x5a, 3, 0x0a, 1, 1,
    ]);
  });
});
