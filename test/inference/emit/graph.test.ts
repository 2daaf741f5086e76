import { describe, expect, it } from "vitest";
import { GraphBuilder } from "../../../inference/emit/graph.ts";
import { NotEmittable } from "../../../inference/emit/not-emittable.ts";

describe("constants", () => {
  it("behavior: equal ones are one, short and long ones; others are not", () => {
    for (const length of [8, 64, 65, 4096]) {
      const graph = new GraphBuilder();
      const bytes = Uint8Array.from({ length }, (_, i) => i);
      const first = graph.constant("uint8", [length], bytes);
      expect(graph.constant("uint8", [length], bytes.slice())).toBe(first);
      const names = [
        graph.constant("uint8", [1, length], bytes),
        graph.constant("int8", [length], bytes),
        graph.constant("uint8", [length], bytes.with(length - 1, 200)),
      ];
      expect(new Set([first, ...names]).size, `${length} bytes`).toBe(4);
    }
  });

  it("limits: no more bytes than a file has; what is there already counts once", () => {
    const graph = new GraphBuilder(100);
    graph.constant("uint8", [80], new Uint8Array(80));
    graph.constant("uint8", [80], new Uint8Array(80));
    graph.constant("uint8", [20], new Uint8Array(20));
    expect(() => graph.constant("uint8", [], Uint8Array.of(1))).toThrow(
      new NotEmittable("with it the file's constants have more than 100 bytes"),
    );
  });
});
