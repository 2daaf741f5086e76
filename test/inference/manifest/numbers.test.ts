import { describe, expect, it } from "vitest";
import { checkNumbers } from "../../../inference/manifest/numbers.ts";
import { Checker } from "../../../inference/manifest/problems.ts";

const entry = (name: string, rest = {}) => ({ name, ...rest });
const tensor = (numbers: unknown, name = "x") => ({ name, type: "int32", dims: [2], offset: 0, numbers });

function faultsOf(inputs: unknown, codec = "int16s"): string[] {
  const check = new Checker();
  checkNumbers(check, inputs, codec, "$.inputs");
  return check.errors.map(({ path, message }) => `${path}: ${message}`);
}

describe("checkNumbers", () => {
  it("default: a name for each number, with a range or without", () => {
    expect(faultsOf([tensor([entry("a", { minimum: 0, maximum: 3 }), entry("b")])])).toEqual([]);
    expect(faultsOf([{ name: "x", dims: [2], offset: 0 }])).toEqual([]);
  });

  it.each([
    [[entry("a")], "$.inputs[0].numbers: must name each of the tensor's 2 numbers, names 1"],
    [[entry("a"), entry("a")], '$.inputs[0].numbers[1].name: "a" is the name of another'],
    [[entry("a"), entry("y")], '$.inputs[0].numbers[1].name: "y" is the name of another'],
    [[entry("a"), entry("no name")], '$.inputs[0].numbers[1].name: "no name" is not a Solidity identifier'],
    [
      [entry("a"), entry("b", { minimum: 4, maximum: 3 })],
      "must be a range within -32768 to 32767, is 4 to 3",
    ],
    [
      [entry("a"), entry("b", { maximum: 40_000 })],
      "must be a range within -32768 to 32767, is -32768 to 40000",
    ],
    [[entry("a"), entry("b", { minimum: 0.5 })], "must be a range within -32768 to 32767, is 0.5 to 32767"],
    ["a, b", "$.inputs[0].numbers: must be an array, is a string"],
  ])("error: %j", (numbers, fault) => {
    const faults = faultsOf([tensor(numbers), { name: "y", dims: [1], offset: 2 }]);
    expect(faults.join("\n")).toContain(fault);
  });

  it("error: numbers of another codec", () => {
    expect(faultsOf([tensor([entry("a"), entry("b")])], "raw").join("\n")).toContain('not of "raw"');
  });
});
