// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {CodecJudge} from "../../../verifier-contracts/CodecJudge.sol";
import {FloatJudge} from "../../../verifier-contracts/FloatJudge.sol";
import {Judge} from "../../../verifier-contracts/Judge.sol";
import {TraceReader} from "../../../verifier-contracts/TraceReader.sol";
import {RegistryTest} from "../registry/RegistryTest.sol";

/// @notice Reads the vector files that test/support/make-vectors.ts writes (test/support/vectors.ts documents the
/// structs), one vector a call, so that memory stays small.
abstract contract VectorFixture is RegistryTest {
    Judge internal judge;
    TraceReader internal reader;

    function setUp() public virtual override {
        super.setUp();
        judge = new Judge(registry, new FloatJudge(), new CodecJudge());
        reader = new TraceReader(registry);
    }

    /// @notice Runs `check` on the vectors of a file, from its first line on; it returns how much it compared.
    /// @return vectors in the file @return compared in all
    function forEachVector(string memory path, function(bytes memory) external returns (uint256) check)
        internal
        returns (uint256 vectors, uint256 compared)
    {
        vm.readLine(path);
        while (true) {
            (bool more, uint256 count) = this.nextVector(path, check);
            if (!more) break;
            ++vectors;
            compared += count;
        }
        vm.closeFile(path);
    }

    function nextVector(string memory path, function(bytes memory) external returns (uint256) check)
        external
        returns (bool more, uint256 compared)
    {
        bytes memory line = bytes(vm.readLine(path));
        if (line.length != 0 && line[0] == "]") return (false, 0);
        return (true, check(vm.parseBytes(this.unquoted(line))));
    }

    /// @notice The text between two spaces and a quote, and a quote and maybe a comma.
    function unquoted(bytes calldata line) external pure returns (string memory) {
        uint256 end = line.length - (line[line.length - 1] == "," ? 2 : 1);
        assertTrue(line[2] == "\"" && line[end] == "\"", "one vector a line");
        return string(line[3:end]);
    }
}
