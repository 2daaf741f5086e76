// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {TraceReader} from "../../../verifier-contracts/TraceReader.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ITraceReader} from "../../../verifier-contracts/interfaces/ITraceReader.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {NaiveTree} from "../libraries/NaiveTree.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {RegistryTest} from "../registry/RegistryTest.sol";

contract TraceReaderTest is RegistryTest {
    using B for B.Draft;

    uint64 private constant TRACE = 0xFFFF;

    TraceReader private _reader;
    ModelId private _model;
    uint256 private _steps;
    bytes32[] private _roots;
    bytes32[] private _words;

    function setUp() public override {
        super.setUp();
        _reader = new TraceReader(registry);
    }

    /// @dev Step 0 is the tensor under test, raw u8 of these dims; `others` steps of one word follow.
    function _model0(uint32[] memory dims, uint256 others) private {
        B.Draft memory d = B.start(4, 65_536, 3);
        d.weight(1, 0, B.dims1(1));
        d.step(0x080900, dims, 0x8000, B.NONE, B.NONE, 0);
        for (uint256 i = 0; i < others; ++i) {
            d.step(0x080900, B.dims1(3), 0x8000, B.NONE, B.NONE, 0);
        }
        _steps = others + 1;
        _model = register(d.bytesOf(), bytes32(uint256(1)));
        bytes32[] memory roots = new bytes32[](_steps);
        for (uint256 i = 0; i < _steps; ++i) {
            roots[i] = keccak256(abi.encode("root", i));
        }
        _roots = NaiveTree.padded(roots);
    }

    /// @dev Commits noise with canonical padding as step 0. @return leaves of its tree
    function _tensor0(uint256 rows, uint256 rowBytes) private returns (bytes32[] memory leaves) {
        uint256 perRow = (rowBytes + 31) / 32;
        bytes32[] memory words = new bytes32[](rows * perRow);
        for (uint256 i = 0; i < words.length; ++i) {
            words[i] = keccak256(abi.encode("word", i));
            uint256 used = rowBytes - 32 * (i % perRow);
            if (used < 32) words[i] &= ~bytes32(type(uint256).max >> (8 * used));
        }
        uint256 width = NaiveTree.powerOfTwo(perRow);
        _words = new bytes32[](width * NaiveTree.powerOfTwo(rows));
        for (uint256 i = 0; i < words.length; ++i) {
            _words[(i / perRow) * width + i % perRow] = words[i];
        }
        leaves = NaiveTree.leaves(words, rows, perRow);
        _roots[0] = NaiveTree.rootOf(leaves);
    }

    function _position(uint64 step, uint64 level, uint64 index) private pure returns (uint64) {
        return (step << 48) | (level << 40) | index;
    }

    function _inside(uint64 step, uint64 level, uint64 index) private view returns (bool) {
        return _reader.isInside(_model, _position(step, level, index));
    }

    /// @dev 3 rows of 40 words: 4 · 64 leaves, h = 8.
    function test_isInside_tensor_succeeds() public {
        _model0(B.dims2(3, 1280), 2);
        assertTrue(_inside(0, 8, 0));
        assertFalse(_inside(0, 8, 1));
        for (uint64 i = 0; i < 5; ++i) {
            assertEq(_inside(0, 6, i), i < 3);
        }
        assertFalse(_inside(0, 0, 0));
        assertFalse(_inside(0, 7, 0));
        assertFalse(_inside(0, 12, 0));
        assertFalse(_inside(0, 255, 0));
        assertFalse(_inside(0, 6, 2 ** 40 - 1));
        // Tensors of one word have one position.
        assertTrue(_inside(2, 0, 0));
        assertFalse(_inside(2, 0, 1));
        assertFalse(_inside(2, 6, 0));
        assertFalse(_inside(3, 0, 0));
        assertFalse(_inside(TRACE, 6, 0));
        assertFalse(_inside(TRACE, 2, 0));
    }

    /// @dev One row of 65 words: 128 leaves, of which level 6 node 1 has one real word, in a tree of height 7.
    function test_isInside_paddedWords_succeeds() public {
        _model0(B.dims2(2, 2080), 0);
        assertTrue(_inside(0, 8, 0));
        assertTrue(_inside(0, 6, 1));
        assertTrue(_inside(0, 6, 3));
        _model0(B.dims2(2, 2049), 0);
        assertTrue(_inside(0, 6, 1));
        _model0(B.dims2(2, 2048), 0);
        assertTrue(_inside(0, 7, 0));
        assertFalse(_inside(0, 6, 2));
    }

    /// @dev 70 steps: a trace tree of height 7, of which level 6 has two nodes.
    function test_isInside_trace_succeeds() public {
        _model0(B.dims1(1), 69);
        assertTrue(_inside(TRACE, 6, 0));
        assertTrue(_inside(TRACE, 6, 1));
        assertFalse(_inside(TRACE, 6, 2));
        assertFalse(_inside(TRACE, 0, 0));
        assertFalse(_inside(TRACE, 7, 0));
        assertFalse(_inside(TRACE, 12, 0));
        assertFalse(_inside(70, 0, 0));
        assertTrue(_inside(69, 0, 0));
    }

    function test_isInside_unknownModel_reverts() public {
        ModelId unknown = ModelId.wrap(bytes32(uint256(3)));
        for (uint64 step = 0; step <= TRACE; step += TRACE) {
            vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, unknown));
            _reader.isInside(unknown, _position(step, 6, 0));
        }
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, unknown));
        _reader.foldTops(unknown, new bytes32[](1));
    }

    function _slice(bytes32[] memory all, uint256 from, uint256 count)
        private
        pure
        returns (bytes32[] memory part)
    {
        part = new bytes32[](count);
        for (uint256 i = 0; i < count; ++i) {
            part[i] = all[from + i];
        }
    }

    /// @dev The reveal of a node of step 0, from the leaves.
    function _reveal(bytes32[] memory leaves, uint256 level, uint256 index)
        private
        view
        returns (bytes32[] memory content, bytes32[] memory path)
    {
        uint256 below = level <= 6 ? 0 : level % 6 == 0 ? level - 6 : level - level % 6;
        uint256 count = 2 ** (level - below);
        content = _slice(below == 0 ? _words : NaiveTree.up(leaves, below), index * count, count);
        path = NaiveTree.concat(
            NaiveTree.pathOf(NaiveTree.up(leaves, level), index), NaiveTree.pathOf(_roots, 0)
        );
    }

    function test_checkReveal_everyNode_succeeds() public {
        // 5 rows of 300 words with 31 real bytes in the last: 8 · 512 leaves, h = 12.
        _model0(B.dims2(5, 9599), 2);
        bytes32[] memory leaves = _tensor0(5, 9599);
        bytes32 root = NaiveTree.rootOf(_roots);
        (bytes32[] memory content, bytes32[] memory path) = _reveal(leaves, 12, 0);
        assertEq(_reader.checkReveal(_model, _position(0, 12, 0), content, path), root);
        for (uint64 i = 0; i < 64; i += 3) {
            (content, path) = _reveal(leaves, 6, i);
            if (_inside(0, 6, i)) {
                assertEq(_reader.checkReveal(_model, _position(0, 6, i), content, path), root);
            } else {
                uint64 position = _position(0, 6, i);
                vm.expectRevert(abi.encodeWithSelector(ITraceReader.PositionOutside.selector, position));
                _reader.checkReveal(_model, position, content, path);
            }
        }
    }

    function test_checkReveal_rootAboveSix_succeeds() public {
        _model0(B.dims2(3, 1280), 2);
        bytes32[] memory leaves = _tensor0(3, 1280);
        (bytes32[] memory content, bytes32[] memory path) = _reveal(leaves, 8, 0);
        assertEq(content.length, 4);
        assertEq(_reader.checkReveal(_model, _position(0, 8, 0), content, path), NaiveTree.rootOf(_roots));
        // The fourth row is padding: only the zero subtree may stand for it.
        content[3] ^= bytes32(uint256(1));
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.NotCanonical.selector, 3, content[3]));
        _reader.checkReveal(_model, _position(0, 8, 0), content, path);
    }

    /// @dev 3 rows of 2 words, 33 bytes each: 7 of 8 leaves, and 31 bytes of every second, are partly or all padding.
    function test_checkReveal_garbageInPadding_reverts() public {
        _model0(B.dims2(3, 33), 0);
        bytes32[] memory leaves = _tensor0(3, 33);
        (bytes32[] memory content, bytes32[] memory path) = _reveal(leaves, 3, 0);
        uint64 position = _position(0, 3, 0);
        assertEq(_reader.checkReveal(_model, position, content, path), NaiveTree.rootOf(_roots));
        for (uint256 i = 0; i < 8; ++i) {
            bytes32 right = content[i];
            for (uint256 b = 0; b < 32; ++b) {
                content[i] = right | (bytes32(bytes1(0x01)) >> (8 * b));
                if (content[i] == right) content[i] ^= bytes32(bytes1(0x01)) >> (8 * b);
                if (i < 6 && (i % 2 == 0 || b == 0)) {
                    assertTrue(
                        _reader.checkReveal(_model, position, content, path) != NaiveTree.rootOf(_roots)
                    );
                } else {
                    vm.expectRevert(abi.encodeWithSelector(ITraceReader.NotCanonical.selector, i, content[i]));
                    _reader.checkReveal(_model, position, content, path);
                }
            }
            content[i] = right;
        }
    }

    function test_checkReveal_anyCorruptedHash_succeeds() public {
        _model0(B.dims2(3, 1280), 2);
        bytes32[] memory leaves = _tensor0(3, 1280);
        bytes32 root = NaiveTree.rootOf(_roots);
        (bytes32[] memory content, bytes32[] memory path) = _reveal(leaves, 6, 1);
        uint64 position = _position(0, 6, 1);
        for (uint256 i = 0; i < path.length; ++i) {
            path[i] ^= bytes32(uint256(1) << i);
            assertTrue(_reader.checkReveal(_model, position, content, path) != root);
            path[i] ^= bytes32(uint256(1) << i);
        }
        assertEq(_reader.checkReveal(_model, position, content, path), root);
    }

    function test_checkReveal_lengths_reverts() public {
        _model0(B.dims2(3, 33), 2);
        uint64 position = _position(0, 3, 0);
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.WrongContentLength.selector, 7, 8));
        _reader.checkReveal(_model, position, new bytes32[](7), new bytes32[](2));
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.WrongPathLength.selector, 3, 2));
        _reader.checkReveal(_model, position, new bytes32[](8), new bytes32[](3));
    }

    function test_checkReveal_trace_succeeds() public {
        _model0(B.dims1(1), 69);
        bytes32[] memory nodes = NaiveTree.up(_roots, 6);
        for (uint64 i = 0; i < 2; ++i) {
            bytes32[] memory content = _slice(_roots, 64 * i, 64);
            bytes32[] memory path = NaiveTree.pathOf(nodes, i);
            bytes32 root = NaiveTree.rootOf(_roots);
            assertEq(_reader.checkReveal(_model, _position(TRACE, 6, i), content, path), root);
            if (i == 0) continue;
            content[6] = keccak256("garbage");
            vm.expectRevert(abi.encodeWithSelector(ITraceReader.NotCanonical.selector, 6, content[6]));
            _reader.checkReveal(_model, _position(TRACE, 6, i), content, path);
        }
    }

    function test_foldTops_oneRootAStep_succeeds() public {
        for (uint256 others = 0; others < 64; others += 9) {
            _model0(B.dims1(1), others);
            bytes32[] memory tops = _slice(_roots, 0, others + 1);
            assertEq(_reader.foldTops(_model, tops), NaiveTree.rootOf(_roots));
        }
    }

    /// @dev 130 steps: height 8, four nodes at level 6, the last one all padding.
    function test_foldTops_levelSix_succeeds() public {
        _model0(B.dims1(1), 129);
        bytes32[] memory tops = NaiveTree.up(_roots, 6);
        assertEq(tops.length, 4);
        assertEq(_reader.foldTops(_model, tops), NaiveTree.rootOf(_roots));
        tops[3] = keccak256("garbage");
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.NotCanonical.selector, 3, tops[3]));
        _reader.foldTops(_model, tops);
    }

    function test_foldTops_count_reverts() public {
        _model0(B.dims1(1), 4);
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.WrongContentLength.selector, 8, 5));
        _reader.foldTops(_model, new bytes32[](8));
        _model0(B.dims1(1), 129);
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.WrongContentLength.selector, 3, 4));
        _reader.foldTops(_model, new bytes32[](3));
    }
}
