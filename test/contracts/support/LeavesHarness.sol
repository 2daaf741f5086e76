// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Leaves} from "../../../verifier-contracts/libraries/Leaves.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {Inputs} from "../../../verifier-contracts/opcodes/codecs/Inputs.sol";

/// @notice What of Leaves.sol batches are read by, called as a contract.
contract LeavesHarness {
    /// @dev With watched memory before, a free pointer that must not move, and free memory that is not clean.
    function rootOf(ModelWord word, bytes calldata data) external pure returns (bytes32 root, uint256 count) {
        bytes memory watched = hex"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5";
        bytes32 before = keccak256(watched);
        uint256 free;
        assembly {
            free := mload(0x40)
            for { let i := 0 } lt(i, add(data.length, 0x10000)) { i := add(i, 32) } {
                mstore(add(free, i), not(0))
            }
        }
        (root, count) = Leaves.rootOf(word, data);
        uint256 freeAfter;
        assembly {
            freeAfter := mload(0x40)
        }
        require(free == freeAfter && keccak256(watched) == before, "memory");
    }

    function contentOf(ModelWord word, bytes calldata leaf)
        external
        pure
        returns (bytes memory input, bytes memory output)
    {
        return (Leaves.inputOf(word, leaf), Leaves.outputOf(word, leaf));
    }

    function requireIn(
        bytes32 root,
        uint256 count,
        uint256 index,
        bytes calldata leaf,
        bytes32[] calldata path
    ) external pure {
        Leaves.requireIn(root, count, index, leaf, path);
    }

    function isCanonical(ModelWord word, bytes calldata input) external pure returns (bool) {
        return Inputs.isCanonical(word, input);
    }
}
