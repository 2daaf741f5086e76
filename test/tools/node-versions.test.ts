import { describe, expect, test } from "vitest";
import { warningsOf } from "../../tools/node-versions.ts";

describe("warningsOf", () => {
  test("default: what npm warns of, without what a user's own settings cause", () => {
    const output = [
      'npm warn Unknown user config "nodedir". This will stop working in the next major version of npm.',
      "npm WARN EBADENGINE Unsupported engine {",
      'npm warn Unknown project config "some-setting".',
      "added 399 packages in 48s",
    ];
    expect(warningsOf(output.join("\n"))).toEqual([output[1], output[2]]);
  });
});
