/** Faults that `npm run test:mutants -- batches` puts into the reading of batches (verifier-contracts/libraries/Leaves.sol):
 *  test/contracts/fuzz/Batches.t.sol must find each. */
import type { Mutant } from "./mutant.ts";

export const BATCHES = "test/contracts/fuzz/Batches.t.sol";

const fault = (name: string, from: string, to: string): Mutant => ({
  name: `leaves: ${name}`,
  caughtBy: "test_batches_plain_succeeds",
  edits: [{ file: "verifier-contracts/libraries/Leaves.sol", from, to }],
});

export const BATCH_FAULTS: readonly Mutant[] = [
  fault(
    "a text's length has one byte",
    "text := mul(isText, shr(FIRST_U16, mload(at)))",
    "text := mul(isText, and(shr(FIRST_U16, mload(at)), 0xff))",
  ),
  fault("a text may be one byte too long", "gt(text, longest)", "gt(text, add(longest, 1))"),
  fault("the last leaf may end a byte behind the data", "gt(next, end)", "gt(next, add(end, 1))"),
  fault("what is behind the data is read as it is", "mstore(end, 0)", ""),
  {
    ...fault("1,025 leaves are taken", "count > MAX_COUNT", "count > MAX_COUNT + 1"),
    caughtBy: "test_batches_counts_succeeds",
  },
  fault(
    "a leaf's hash leaves out its text",
    "mstore(node, keccak256(at, sub(next, at)))",
    "mstore(node, keccak256(at, size))",
  ),
  fault(
    "missing leaves are hashes of zeros",
    "Shapes.ceilLog2(count), 0)",
    "Shapes.ceilLog2(count), Merkle.zeroLeaf())",
  ),
  fault("a path may be shorter", "if (path.length != levels)", "if (path.length > levels)"),
  fault(
    "words are read without a sign",
    "signextend(3, shr(FIRST_U32, calldataload(from_)))",
    "shr(FIRST_U32, calldataload(from_))",
  ),
  fault("prices are 32 bytes apart", "from := add(from, PRICE_BYTES)", "from := add(from, 0x20)"),
  fault(
    "a list of numbers says their count, not its words",
    "codec == INPUT_INT16S ? words : length;\n        assembly",
    "length;\n        assembly",
  ),
  fault("raw output keeps its length in front", "payload = payload[RAW_LENGTH_BYTES:];", ""),
  fault("a text keeps its length in front", "from = TEXT_LENGTH_BYTES;", ""),
  fault(
    "numbers are read a byte apart",
    "if (codec == INPUT_INT16S) return 2 * word.inputSize();",
    "if (codec == INPUT_INT16S) return word.inputSize();",
  ),
];
