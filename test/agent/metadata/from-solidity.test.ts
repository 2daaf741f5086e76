import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { abiFromSolidity } from "../../../agent/metadata/from-solidity.ts";
import { readMetadata } from "../../../agent/metadata/read.ts";
import { COMPLETE_EXAMPLE } from "../../support/agent-metadata.ts";

const folder = mkdtempSync(join(tmpdir(), "assay-solidity-"));
afterAll(() => rmSync(folder, { recursive: true }));
const HEAD = "// SPDX-License-Identifier: MIT\npragma solidity ^0.8.0;\n";
function sourceFile(name: string, body: string): string {
  writeFileSync(join(folder, name), HEAD + body);
  return join(folder, name);
}
const SELECTOR = `interface IJsonSelector {
    function fetch(string calldata url, string calldata selector)
        external
        returns (string memory result);
}`;

describe("abiFromSolidity", () => {
  // shows: S-36, S-37
  it("default: the text's interface gives the text's ABI, usable in metadata as it is", () => {
    const { contract, abi, leftOut } = abiFromSolidity(sourceFile("IJsonSelector.sol", SELECTOR));
    expect(contract).toBe("IJsonSelector");
    expect(abi).toEqual([{ ...COMPLETE_EXAMPLE.abi[0], stateMutability: "nonpayable" }]);
    expect(leftOut).toEqual([]);
    const file = new TextEncoder().encode(JSON.stringify({ ...COMPLETE_EXAMPLE, abi }));
    expect(readMetadata(file).errors).toEqual([]);
  });

  // shows: S-51, D-70
  it("behavior: NatSpec becomes descriptions, tuples keep their components, events and errors are left out", () => {
    const { abi, leftOut } = abiFromSolidity(
      sourceFile(
        "Orders.sol",
        `interface IOrders {
          struct Order { string item; uint256 quantity; address recipient; }
          event Made(bytes32 id);
          error Refused(uint256 why);
          /// @notice Makes an order.
          /// @param order what to make
          /// @return orderId its id
          /// @return success whether it was made
          function createOrder(Order calldata order) external returns (bytes32 orderId, bool success);
          /// @dev Asks again.
          /// @return whether it is there
          function has(bytes32 id) external view returns (bool);
        }`,
      ),
    );
    expect(abi).toEqual([
      {
        type: "function",
        name: "createOrder",
        description: "Makes an order.",
        inputs: [
          {
            name: "order",
            type: "tuple",
            description: "what to make",
            components: [
              { name: "item", type: "string" },
              { name: "quantity", type: "uint256" },
              { name: "recipient", type: "address" },
            ],
          },
        ],
        outputs: [
          { name: "orderId", type: "bytes32", description: "its id" },
          { name: "success", type: "bool", description: "whether it was made" },
        ],
        stateMutability: "nonpayable",
      },
      {
        type: "function",
        name: "has",
        description: "Asks again.",
        inputs: [{ name: "id", type: "bytes32" }],
        outputs: [{ name: "", type: "bool", description: "whether it is there" }],
        stateMutability: "view",
      },
    ]);
    expect(leftOut).toEqual(["error Refused", "event Made"]);
  });

  it("args: imports of the folder, and which contract of several", () => {
    sourceFile("Types.sol", "struct Point { int256 x; int256 y; }");
    const file = sourceFile(
      "Several.sol",
      `import {Point} from "./Types.sol";
       interface A { function a(Point calldata p) external; }
       interface B { function b() external; }`,
    );
    expect(abiFromSolidity(file, "A").abi[0]?.inputs[0]?.components).toHaveLength(2);
    expect(() => abiFromSolidity(file)).toThrow("Several.sol declares 2 contracts with functions");
    expect(() => abiFromSolidity(file, "C")).toThrow("declares no contract C with functions");
  });

  it("error: a source that does not compile, and imports from outside the folder, by name or by link", () => {
    expect(() => abiFromSolidity(sourceFile("Broken.sol", "interface {"))).toThrow("does not compile");
    const outside = mkdtempSync(join(tmpdir(), "assay-outside-"));
    try {
      writeFileSync(join(outside, "Secret.sol"), `${HEAD}struct Secret { uint256 a; }`);
      mkdirSync(join(folder, "below"));
      const above = join(folder, "below", "Up.sol");
      writeFileSync(above, `${HEAD}import "../IJsonSelector.sol"; interface U { function u() external; }`);
      symlinkSync(join(outside, "Secret.sol"), join(folder, "Link.sol"));
      const linked = sourceFile("Linked.sol", 'import "./Link.sol"; interface L { function l() external; }');
      expect(() => abiFromSolidity(above)).toThrow("does not compile");
      expect(() => abiFromSolidity(linked)).toThrow("it lies outside the file's folder");
    } finally {
      rmSync(outside, { recursive: true });
    }
  });
});
