// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IPromisesErrors} from "../../../verifier-contracts/interfaces/IPromisesErrors.sol";
import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";

/// @notice Compact leaves and their tree as docs/PROTOCOL.md describes them, byte by byte and level by level: what
/// libraries/Leaves.sol is compared with. Codecs by their numbers, no code of the contracts.
library PlainBatch {
    /// @notice Leaves of the data, or the refusal that Leaves.rootOf owes for them.
    function split(ModelWord word, bytes memory data) internal pure returns (bytes[] memory leaves) {
        leaves = new bytes[](1024);
        uint256 count;
        for (uint256 at = 0; at < data.length; ++count) {
            if (count == 1024) revert IPromisesErrors.CountOutOfRange(1025, 1, 1024);
            uint256 size = inputBytes(word) + outputBytes(word);
            if (word.inputCodec() == 1) {
                // A byte behind the end is 0.
                uint256 length = 256 * uint256(uint8(data[at]));
                if (at + 1 < data.length) length += uint8(data[at + 1]);
                if (length > word.inputSize()) {
                    revert IPromisesErrors.LeafLengthWrong(count, length, word.inputSize());
                }
                size += length;
            }
            if (at + size > data.length) {
                revert IPromisesErrors.LeafLengthWrong(count, data.length - at, size);
            }
            leaves[count] = part(data, at, size);
            at += size;
        }
        if (count == 0) revert IPromisesErrors.CountOutOfRange(0, 1, 1024);
        assembly ("memory-safe") {
            mstore(leaves, count)
        }
    }

    function levelsOf(uint256 count) internal pure returns (uint256 levels) {
        while (2 ** levels < count) ++levels;
    }

    /// @notice All nodes of the padded tree: the leaves from 2^levels on, node i above 2i and 2i + 1, the root at 1.
    function tree(bytes[] memory leaves) internal pure returns (bytes32[] memory nodes) {
        uint256 width = 2 ** levelsOf(leaves.length);
        nodes = new bytes32[](2 * width);
        for (uint256 i = 0; i < leaves.length; ++i) {
            nodes[width + i] = keccak256(leaves[i]);
        }
        for (uint256 i = width - 1; i > 0; --i) {
            nodes[i] = keccak256(bytes.concat(nodes[2 * i], nodes[2 * i + 1]));
        }
    }

    /// @notice Siblings of a leaf, bottom up.
    function path(bytes32[] memory nodes, uint256 index) internal pure returns (bytes32[] memory siblings) {
        uint256 width = nodes.length / 2;
        siblings = new bytes32[](levelsOf(width));
        uint256 node = width + index;
        for (uint256 height = 0; height < siblings.length; ++height) {
            siblings[height] = nodes[node % 2 == 0 ? node + 1 : node - 1];
            node /= 2;
        }
    }

    /// @notice The calldata of a leaf of the right length.
    function inputOf(ModelWord word, bytes memory leaf) internal pure returns (bytes memory) {
        uint256 n = word.inputSize();
        bytes4 selector = word.selector();
        if (word.inputCodec() == 1) {
            uint256 length = 256 * uint256(uint8(leaf[0])) + uint8(leaf[1]);
            return abi.encodeWithSelector(selector, string(part(leaf, 2, length)));
        }
        if (word.inputCodec() == 4) return abi.encodeWithSelector(selector, part(leaf, 0, n));
        if (word.inputCodec() == 3) {
            uint256[] memory words = new uint256[]((n + 15) / 16);
            for (uint256 i = 0; i < n; ++i) {
                words[i / 16] |= number(leaf, 2 * i, 2) << (16 * (15 - i % 16));
            }
            return abi.encodeWithSelector(selector, words);
        }
        uint256[][3] memory lists;
        for (uint256 list = 0; list < 3; ++list) {
            lists[list] = new uint256[](n);
            for (uint256 i = 0; i < n; ++i) {
                lists[list][i] = number(leaf, 16 * (n * list + i), 16);
            }
        }
        return abi.encodeWithSelector(selector, lists[0], lists[1], lists[2]);
    }

    /// @notice The return data of a leaf of the right length.
    function outputOf(ModelWord word, bytes memory leaf) internal pure returns (bytes memory output) {
        uint256 size = outputBytes(word);
        bytes memory compact = part(leaf, leaf.length - size, size);
        if (word.outputCodec() == 1) {
            for (uint256 i = 0; i < size / 4; ++i) {
                // forge-lint: disable-next-line(unsafe-typecast)
                output = bytes.concat(output, abi.encode(int256(int32(uint32(number(compact, 4 * i, 4))))));
            }
            return output;
        }
        if (word.outputCodec() == 2) {
            return bytes.concat(abi.encode(32, size / 32), compact);
        }
        return bytes.concat(abi.encode(32, number(compact, 0, 4)), part(compact, 4, size - 4));
    }

    function inputBytes(ModelWord word) internal pure returns (uint256) {
        uint256 n = word.inputSize();
        uint256 codec = word.inputCodec();
        return codec == 1 ? 2 : codec == 2 ? 48 * n : codec == 3 ? 2 * n : n;
    }

    function outputBytes(ModelWord word) internal pure returns (uint256) {
        uint256 length = word.outputLength();
        uint256 codec = word.outputCodec();
        return codec == 1 ? 4 * (length / 32) : codec == 2 ? length - 64 : length - 60;
    }

    function part(bytes memory all, uint256 from, uint256 size) internal pure returns (bytes memory some) {
        some = new bytes(size);
        for (uint256 i = 0; i < size; ++i) {
            some[i] = all[from + i];
        }
    }

    /// @notice A big-endian number of so many bytes.
    function number(bytes memory all, uint256 from, uint256 size) internal pure returns (uint256 value) {
        for (uint256 i = 0; i < size; ++i) {
            value = 256 * value + uint8(all[from + i]);
        }
    }
}
