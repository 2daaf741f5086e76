// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Merkle} from "../../../verifier-contracts/libraries/Merkle.sol";
import {Test} from "../support/Test.sol";
import {NaiveTree} from "./NaiveTree.sol";

contract MerkleTest is Test {
    function _random(uint256 seed, uint256 count) private pure returns (bytes32[] memory words) {
        words = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            words[i] = keccak256(abi.encode(seed, i));
        }
    }

    function _pointer(bytes32[] memory words) private pure returns (uint256 pointer) {
        assembly {
            pointer := add(words, 32)
        }
    }

    function foldPath(bytes32 node, uint256 index, bytes32[] calldata path) external pure returns (bytes32) {
        return Merkle.foldPath(node, index, path);
    }

    function test_tensorRoot_oneWord_succeeds() public pure {
        bytes32[] memory words = new bytes32[](1);
        words[0] = bytes32(uint256(7));
        assertEq(Merkle.tensorRoot(_pointer(words), 1, 1, 0, 0), keccak256(abi.encode(uint256(7))));
    }

    /// @dev 3 rows of 3 words: 4 rows of 4 leaves, drawn manually.
    function test_tensorRoot_paddedByHand_succeeds() public pure {
        bytes32[] memory words = _random(1, 9);
        bytes32 z0 = keccak256(abi.encode(uint256(0)));
        bytes32 z1 = keccak256(abi.encode(z0, z0));
        bytes32[] memory rows = new bytes32[](4);
        for (uint256 r = 0; r < 3; ++r) {
            bytes32 left = keccak256(
                abi.encode(keccak256(abi.encode(words[3 * r])), keccak256(abi.encode(words[3 * r + 1])))
            );
            rows[r] = keccak256(
                abi.encode(left, keccak256(abi.encode(keccak256(abi.encode(words[3 * r + 2])), z0)))
            );
        }
        rows[3] = keccak256(abi.encode(z1, z1));
        bytes32 root = keccak256(
            abi.encode(keccak256(abi.encode(rows[0], rows[1])), keccak256(abi.encode(rows[2], rows[3])))
        );
        assertEq(Merkle.tensorRoot(_pointer(words), 3, 3, 2, 4), root);
    }

    function testFuzz_tensorRoot_equalsPaddedTree_succeeds(uint256 seed, uint256 rows, uint256 words)
        public
        pure
    {
        rows = bound(rows, 1, 40);
        words = bound(words, 1, 12);
        bytes32[] memory all = _random(seed, rows * words + words);
        bytes32 expected = NaiveTree.rootOf(NaiveTree.leaves(all, rows, words));
        uint256 wordBits = NaiveTree.log2(NaiveTree.powerOfTwo(words));
        uint256 height = wordBits + NaiveTree.log2(NaiveTree.powerOfTwo(rows));
        assertEq(Merkle.tensorRoot(_pointer(all), rows, words, wordBits, height), expected);
        for (uint256 i = rows * words; i < all.length; ++i) {
            assertEq(all[i], keccak256(abi.encode(seed, i)), "memory behind the words");
        }
    }

    function testFuzz_foldNodes_equalsPaddedTree_succeeds(uint256 seed, uint256 count) public pure {
        count = bound(count, 1, 130);
        bytes32[] memory nodes = _random(seed, count);
        bytes32[] memory padded = NaiveTree.padded(nodes);
        uint256 levels = NaiveTree.log2(padded.length);
        bytes32 expected = NaiveTree.rootOf(padded);
        // Two levels more: the right half is zero subtrees.
        bytes32 zero;
        for (uint256 i = 0; i < levels; ++i) {
            zero = keccak256(abi.encode(zero, zero));
        }
        bytes32 higher = keccak256(abi.encode(expected, zero));
        assertEq(Merkle.foldNodes(_pointer(_random(seed, count)), count, levels, 0), expected);
        assertEq(Merkle.foldNodes(_pointer(nodes), count, levels + 1, 0), higher);
    }

    function testFuzz_foldPath_findsRoot_succeeds(uint256 seed, uint256 count, uint256 index) public view {
        count = bound(count, 1, 70);
        bytes32[] memory nodes = NaiveTree.padded(_random(seed, count));
        index = bound(index, 0, nodes.length - 1);
        bytes32 node = nodes[index];
        assertEq(this.foldPath(node, index, NaiveTree.pathOf(nodes, index)), NaiveTree.rootOf(nodes));
    }

    function test_zeroAbove_chain_succeeds() public pure {
        bytes32 zero = keccak256(abi.encode(uint256(0)));
        assertEq(Merkle.zeroAbove(zero, 0), Merkle.zeroLeaf());
        for (uint256 level = 1; level < 5; ++level) {
            zero = keccak256(abi.encode(zero, zero));
            assertEq(Merkle.zeroAbove(Merkle.zeroLeaf(), level), zero);
        }
    }
}
