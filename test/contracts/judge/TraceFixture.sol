// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FloatJudge} from "../../../verifier-contracts/FloatJudge.sol";
import {Judge} from "../../../verifier-contracts/Judge.sol";
import {ICodecJudge} from "../../../verifier-contracts/interfaces/ICodecJudge.sol";
import {ModelId, Opening} from "../../../verifier-contracts/types/Types.sol";
import {NaiveTree} from "../libraries/NaiveTree.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {RegistryTest} from "../registry/RegistryTest.sol";

/// @notice A registered program with committed tensors of any content, and openings of them from trees that hold
/// every padded leaf.
abstract contract TraceFixture is RegistryTest {
    using B for B.Draft;

    struct Committed {
        uint256 rows;
        uint256 perRow;
        bytes32[] words;
    }

    Judge internal judge;
    ModelId internal modelId;
    bytes32 internal traceRoot;
    bytes32 internal weightsRoot;
    Committed[] internal weightTensors;
    Committed[] internal stepTensors;

    function setUp() public virtual override {
        super.setUp();
        judge = new Judge(registry, new FloatJudge(), ICodecJudge(address(0)));
    }

    /// @notice Adds a tensor whose words are all noise, padding inside rows included.
    function commit(Committed[] storage list, uint256 rows, uint256 perRow) internal {
        Committed storage t = list.push();
        (t.rows, t.perRow) = (rows, perRow);
        for (uint256 i = 0; i < rows * perRow; ++i) {
            t.words.push(keccak256(abi.encode(list.length, i, "noise")));
        }
    }

    /// @notice Adds a step and the noise of its tensor.
    function commitStep(
        B.Draft memory d,
        bytes3 code,
        uint32[] memory dims,
        uint16 a,
        uint16 b,
        uint16 c,
        uint32 k,
        bytes memory coordinates
    ) internal {
        d.step(code, dims, a, b, c, k, coordinates);
        uint256 rows = 1;
        for (uint256 i = 0; i + 1 < dims.length; ++i) {
            rows *= dims[i];
        }
        uint256 size = uint24(code) & 0xFF == 2 || uint24(code) & 0xFF == 3 ? 4 : 1;
        commit(stepTensors, rows, (dims[dims.length - 1] * size + 31) / 32);
    }

    function commitStep(
        B.Draft memory d,
        bytes3 code,
        uint32[] memory dims,
        uint16 a,
        uint16 b,
        uint16 c,
        uint32 k
    ) internal {
        commitStep(d, code, dims, a, b, c, k, new bytes(64));
    }

    function registerCommitted(B.Draft memory d) internal {
        commitRoots();
        modelId = register(d.bytesOf(), weightsRoot);
    }

    /// @notice Takes the roots of the tensors as they are now.
    function commitRoots() internal {
        traceRoot = NaiveTree.rootOf(_roots(stepTensors));
        weightsRoot = weightTensors.length == 0 ? bytes32(0) : NaiveTree.rootOf(_roots(weightTensors));
    }

    function _roots(Committed[] storage list) private view returns (bytes32[] memory roots) {
        roots = new bytes32[](list.length);
        for (uint256 i = 0; i < list.length; ++i) {
            roots[i] = NaiveTree.rootOf(NaiveTree.leaves(list[i].words, list[i].rows, list[i].perRow));
        }
        return NaiveTree.padded(roots);
    }

    /// @notice One word of a tensor. @param operand as a record names it
    function wordOf(uint16 operand, uint256 row, uint256 word) internal view returns (Opening memory o) {
        (Committed[] storage list, uint256 index) = _listOf(operand);
        Committed storage t = list[index];
        o.words = new bytes32[](1);
        o.words[0] = t.words[row * t.perRow + word];
        bytes32[] memory leaves = NaiveTree.leaves(t.words, t.rows, t.perRow);
        uint256 leaf = row * NaiveTree.powerOfTwo(t.perRow) + word;
        o.path = NaiveTree.concat(NaiveTree.pathOf(leaves, leaf), NaiveTree.pathOf(_roots(list), index));
    }

    /// @notice The real words of a row.
    function rowOf(uint16 operand, uint256 row) internal view returns (Opening memory o) {
        (Committed[] storage list, uint256 index) = _listOf(operand);
        Committed storage t = list[index];
        o.words = new bytes32[](t.perRow);
        for (uint256 i = 0; i < t.perRow; ++i) {
            o.words[i] = t.words[row * t.perRow + i];
        }
        bytes32[] memory leaves = NaiveTree.leaves(t.words, t.rows, t.perRow);
        bytes32[] memory rows = NaiveTree.up(leaves, NaiveTree.log2(NaiveTree.powerOfTwo(t.perRow)));
        o.path = NaiveTree.concat(NaiveTree.pathOf(rows, row), NaiveTree.pathOf(_roots(list), index));
    }

    /// @notice Byte `i` of a row of a tensor.
    function byteOf(uint16 operand, uint256 row, uint256 i) internal view returns (uint256) {
        (Committed[] storage list, uint256 index) = _listOf(operand);
        Committed storage t = list[index];
        return uint8(t.words[row * t.perRow + i / 32][i % 32]);
    }

    /// @notice 32-bit element `i` of a row of a tensor, as stored.
    function u32Of(uint16 operand, uint256 row, uint256 i) internal view returns (uint32) {
        uint256 stored = (byteOf(operand, row, 4 * i) << 24) | (byteOf(operand, row, 4 * i + 1) << 16);
        return uint32(stored | (byteOf(operand, row, 4 * i + 2) << 8) | byteOf(operand, row, 4 * i + 3));
    }

    function setU32(uint16 operand, uint256 row, uint256 i, uint32 value) internal {
        (Committed[] storage list, uint256 index) = _listOf(operand);
        Committed storage t = list[index];
        uint256 shift = 224 - 32 * (i % 8);
        uint256 word = uint256(t.words[row * t.perRow + i / 8]);
        t.words[row * t.perRow + i / 8] =
            bytes32((word & ~(uint256(0xFFFFFFFF) << shift)) | (uint256(value) << shift));
    }

    function setByte(uint16 operand, uint256 row, uint256 i, uint8 value) internal {
        (Committed[] storage list, uint256 index) = _listOf(operand);
        Committed storage t = list[index];
        uint256 shift = 248 - 8 * (i % 32);
        uint256 word = uint256(t.words[row * t.perRow + i / 32]);
        t.words[row * t.perRow + i / 32] =
            bytes32((word & ~(uint256(0xFF) << shift)) | (uint256(value) << shift));
    }

    function _listOf(uint16 operand) private view returns (Committed[] storage list, uint256 index) {
        return operand < 0x8000 ? (stepTensors, operand) : (weightTensors, operand - 0x8000);
    }

    function openings(Opening memory a) internal pure returns (Opening[] memory list) {
        list = new Opening[](1);
        list[0] = a;
    }

    function openings(Opening memory a, Opening memory b) internal pure returns (Opening[] memory list) {
        list = new Opening[](2);
        (list[0], list[1]) = (a, b);
    }

    function openings(Opening memory a, Opening memory b, Opening memory c)
        internal
        pure
        returns (Opening[] memory list)
    {
        list = new Opening[](3);
        (list[0], list[1], list[2]) = (a, b, c);
    }

    function openings(Opening memory a, Opening memory b, Opening memory c, Opening memory d)
        internal
        pure
        returns (Opening[] memory list)
    {
        list = new Opening[](4);
        (list[0], list[1], list[2], list[3]) = (a, b, c, d);
    }
}
