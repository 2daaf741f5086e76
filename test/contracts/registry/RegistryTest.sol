// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelRegistry} from "../../../verifier-contracts/ModelRegistry.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ProgramField, ProgramPart} from "../../../verifier-contracts/types/Program.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {Test} from "../support/Test.sol";
import {ProgramBuilder} from "./ProgramBuilder.sol";

/// @notice Base of tests that register programs.
abstract contract RegistryTest is Test {
    using ProgramBuilder for ProgramBuilder.Draft;

    bytes4 internal constant SELECTOR = 0x11223344;
    uint8 internal constant BOND = 4;
    uint256 internal constant CHUNK = 24_544;

    ModelRegistry internal registry;

    function setUp() public virtual {
        registry = new ModelRegistry();
    }

    function chunksOf(bytes memory program) internal returns (address[] memory chunks) {
        uint256 count = (program.length + CHUNK - 1) / CHUNK;
        chunks = new address[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint256 end = i + 1 == count ? program.length : (i + 1) * CHUNK;
            chunks[i] = registry.storeChunk(this.slice(program, i * CHUNK, end));
        }
    }

    function slice(bytes calldata all, uint256 from, uint256 to) external pure returns (bytes memory) {
        return all[from:to];
    }

    function register(bytes memory program, bytes32 weightsRoot) internal returns (ModelId) {
        return registry.register(chunksOf(program), weightsRoot, SELECTOR, BOND, 0);
    }

    function accepts(ProgramBuilder.Draft memory d) internal {
        bytes32 root = d.weights == 0 ? bytes32(0) : bytes32(uint256(1));
        assertTrue(registry.modelWord(register(d.bytesOf(), root)) != 0);
    }

    function rejects(bytes memory program, ProgramPart part, uint256 index, ProgramField field, uint256 value)
        internal
    {
        address[] memory chunks = chunksOf(program);
        vm.expectRevert(
            abi.encodeWithSelector(IModelRegistry.InvalidProgram.selector, part, index, field, value)
        );
        registry.register(chunks, bytes32(uint256(1)), SELECTOR, BOND, 0);
    }

    /// @notice The last step of the draft breaks a rule.
    function rejectsStep(ProgramBuilder.Draft memory d, ProgramField field, uint256 value) internal {
        rejects(d.bytesOf(), ProgramPart.STEP, d.steps - 1, field, value);
    }
}
