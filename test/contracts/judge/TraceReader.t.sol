// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {TraceReader} from "../../../verifier-contracts/TraceReader.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ITraceReader} from "../../../verifier-contracts/interfaces/ITraceReader.sol";
import {Positions} from "../../../verifier-contracts/libraries/Positions.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {NaiveTree} from "../libraries/NaiveTree.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {RegistryTest} from "../registry/RegistryTest.sol";

contract TraceReaderTest is RegistryTest {
    using B for B.Draft;

    uint64 private constant TRACE = 0xFFFF;

    TraceReader private _reader;
    ModelId private _model;
    uint256 private _word;
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
        _word = registry.modelWord(_model);
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
        return _shape(step, level, index) != 0;
    }

    function _shape(uint64 step, uint64 level, uint64 index) private view returns (uint256) {
        return _reader.shapeAt(_model, _position(step, level, index));
    }

    /// @dev 3 rows of 40 words: 4 · 64 leaves, h = 8.
    function test_shapeAt_tensor_succeeds() public {
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
    function test_shapeAt_paddedWords_succeeds() public {
        _model0(B.dims2(2, 2080), 0);
        assertTrue(_inside(0, 8, 0));
        assertTrue(_inside(0, 6, 1));
        assertTrue(_inside(0, 6, 3));
        _model0(B.dims2(2, 2049), 0);
        assertTrue(_inside(0, 6, 1));
        // 192 words: the last quarter of each row's leaves is padding.
        _model0(B.dims2(2, 6144), 0);
        for (uint64 i = 0; i < 8; ++i) {
            assertEq(_inside(0, 6, i), i % 4 != 3);
        }
        _model0(B.dims2(2, 2048), 0);
        assertTrue(_inside(0, 7, 0));
        assertFalse(_inside(0, 6, 2));
    }

    /// @dev 70 steps: a trace tree of height 7, of which level 6 has two nodes.
    function test_shapeAt_trace_succeeds() public {
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

    function test_shapeAt_unknownModel_reverts() public {
        ModelId unknown = ModelId.wrap(bytes32(uint256(3)));
        for (uint64 step = 0; step <= TRACE; step += TRACE) {
            vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, unknown));
            _reader.shapeAt(unknown, _position(step, 6, 0));
        }
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
        assertEq(_reader.checkReveal(_shape(0, 12, 0), _position(0, 12, 0), content, path), root);
        for (uint64 i = 0; i < 64; i += 3) {
            (content, path) = _reveal(leaves, 6, i);
            uint64 position = _position(0, 6, i);
            uint256 shape = _shape(0, 6, i);
            if (shape == 0) {
                vm.expectRevert(abi.encodeWithSelector(ITraceReader.PositionOutside.selector, position));
                _reader.checkReveal(shape, position, content, path);
            } else {
                assertEq(_reader.checkReveal(shape, position, content, path), root);
            }
        }
    }

    function test_checkReveal_rootAboveSix_succeeds() public {
        _model0(B.dims2(3, 1280), 2);
        bytes32[] memory leaves = _tensor0(3, 1280);
        (bytes32[] memory content, bytes32[] memory path) = _reveal(leaves, 8, 0);
        assertEq(content.length, 4);
        uint256 shape = _shape(0, 8, 0);
        assertEq(_reader.checkReveal(shape, _position(0, 8, 0), content, path), NaiveTree.rootOf(_roots));
        // The fourth row is padding: only the zero subtree may stand for it.
        content[3] ^= bytes32(uint256(1));
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.NotCanonical.selector, 3, content[3]));
        _reader.checkReveal(shape, _position(0, 8, 0), content, path);
    }

    /// @dev 3 rows of 2 words, 33 bytes each: 7 of 8 leaves, and 31 bytes of every second, are partly or all padding.
    function test_checkReveal_garbageInPadding_reverts() public {
        _model0(B.dims2(3, 33), 0);
        bytes32[] memory leaves = _tensor0(3, 33);
        (bytes32[] memory content, bytes32[] memory path) = _reveal(leaves, 3, 0);
        uint64 position = _position(0, 3, 0);
        uint256 shape = _shape(0, 3, 0);
        assertEq(_reader.checkReveal(shape, position, content, path), NaiveTree.rootOf(_roots));
        for (uint256 i = 0; i < 8; ++i) {
            bytes32 right = content[i];
            for (uint256 b = 0; b < 32; ++b) {
                content[i] = right | (bytes32(bytes1(0x01)) >> (8 * b));
                if (content[i] == right) content[i] ^= bytes32(bytes1(0x01)) >> (8 * b);
                if (i < 6 && (i % 2 == 0 || b == 0)) {
                    assertTrue(
                        _reader.checkReveal(shape, position, content, path) != NaiveTree.rootOf(_roots)
                    );
                } else {
                    vm.expectRevert(abi.encodeWithSelector(ITraceReader.NotCanonical.selector, i, content[i]));
                    _reader.checkReveal(shape, position, content, path);
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
        uint256 shape = _shape(0, 6, 1);
        for (uint256 i = 0; i < path.length; ++i) {
            path[i] ^= bytes32(uint256(1) << i);
            assertTrue(_reader.checkReveal(shape, position, content, path) != root);
            path[i] ^= bytes32(uint256(1) << i);
        }
        assertEq(_reader.checkReveal(shape, position, content, path), root);
    }

    function test_checkReveal_lengths_reverts() public {
        _model0(B.dims2(3, 33), 2);
        uint64 position = _position(0, 3, 0);
        uint256 shape = _shape(0, 3, 0);
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.WrongContentLength.selector, 7, 8));
        _reader.checkReveal(shape, position, new bytes32[](7), new bytes32[](2));
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.WrongPathLength.selector, 3, 2));
        _reader.checkReveal(shape, position, new bytes32[](8), new bytes32[](3));
    }

    /// @dev Any node of any shape against the definition: a leaf is real if its row and its word are, and padding is
    /// whatever else there is. Garbage anywhere in it reverts, at its place.
    function testFuzz_checkReveal_padding_reverts(uint256 rows, uint256 rowBytes, uint256 pick, uint256 noise)
        public
    {
        rowBytes = bound(rowBytes, 1, 3 ** bound(pick >> 8, 1, 10));
        uint256 words = (rowBytes + 31) / 32;
        uint256 width = NaiveTree.powerOfTwo(words);
        rows = bound(rows, 1, 4_000_000 / width);
        uint256 height;
        while (1 << height < width * NaiveTree.powerOfTwo(rows)) height++;
        uint256 level = 6 * bound(pick >> 16, 0, height / 6);
        if (level == 0) level = height;
        uint256 below = level <= 6 ? 0 : level % 6 == 0 ? level - 6 : level - level % 6;
        uint256 first = bound(pick >> 32, 0, rows - 1) * width + bound(pick >> 64, 0, words - 1);
        uint64 index = uint64(first >> level);
        bytes32[] memory content = new bytes32[](1 << level - below);
        bytes32[] memory padding = new bytes32[](content.length);
        for (uint256 i; i < content.length; i++) {
            (content[i], padding[i]) = _reference(rows, rowBytes, (index << level) + (i << below), below);
        }
        uint256 shape = Positions.packShape(rows, rowBytes, 0);
        bytes32[] memory path = new bytes32[](height - level);
        _reader.checkReveal(shape, _position(0, uint64(level), index), content, path);
        for (uint256 i; i < content.length; i++) {
            bytes32 garbage = bytes32(noise) & padding[i];
            if (garbage == 0) continue;
            content[i] ^= garbage;
            vm.expectRevert(abi.encodeWithSelector(ITraceReader.NotCanonical.selector, i, content[i]));
            _reader.checkReveal(shape, _position(0, uint64(level), index), content, path);
            content[i] ^= garbage;
        }
    }

    /// @return node that may stand there @return padding its bits that nothing else may
    function _reference(uint256 rows, uint256 rowBytes, uint256 leaf, uint256 level)
        private
        pure
        returns (bytes32 node, bytes32 padding)
    {
        uint256 width = NaiveTree.powerOfTwo((rowBytes + 31) / 32);
        uint256 row = leaf / width;
        uint256 at = 32 * (leaf % width);
        if (row >= rows || at >= rowBytes) {
            padding = bytes32(type(uint256).max);
            if (level != 0) node = keccak256(abi.encode(0));
            for (; level != 0; level--) {
                node = keccak256(abi.encode(node, node));
            }
        } else {
            node = keccak256(abi.encode(leaf));
            if (level == 0 && rowBytes - at < 32) {
                padding = bytes32(type(uint256).max >> (8 * (rowBytes - at)));
            }
            node &= ~padding;
        }
    }

    function test_checkReveal_trace_succeeds() public {
        _model0(B.dims1(1), 69);
        bytes32[] memory nodes = NaiveTree.up(_roots, 6);
        for (uint64 i = 0; i < 2; ++i) {
            bytes32[] memory content = _slice(_roots, 64 * i, 64);
            bytes32[] memory path = NaiveTree.pathOf(nodes, i);
            bytes32 root = NaiveTree.rootOf(_roots);
            uint256 shape = _shape(TRACE, 6, i);
            assertEq(_reader.checkReveal(shape, _position(TRACE, 6, i), content, path), root);
            if (i == 0) continue;
            content[6] = keccak256("garbage");
            vm.expectRevert(abi.encodeWithSelector(ITraceReader.NotCanonical.selector, 6, content[6]));
            _reader.checkReveal(shape, _position(TRACE, 6, i), content, path);
        }
    }

    function test_foldTops_oneRootAStep_succeeds() public {
        for (uint256 others = 0; others < 64; others += 9) {
            _model0(B.dims1(1), others);
            bytes32[] memory tops = _slice(_roots, 0, others + 1);
            assertEq(_reader.foldTops(_word, tops), NaiveTree.rootOf(_roots));
        }
    }

    /// @dev 130 steps: height 8, four nodes at level 6, the last one all padding.
    function test_foldTops_levelSix_succeeds() public {
        _model0(B.dims1(1), 129);
        bytes32[] memory tops = NaiveTree.up(_roots, 6);
        assertEq(tops.length, 4);
        assertEq(_reader.foldTops(_word, tops), NaiveTree.rootOf(_roots));
        tops[3] = keccak256("garbage");
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.NotCanonical.selector, 3, tops[3]));
        _reader.foldTops(_word, tops);
    }

    function test_foldTops_count_reverts() public {
        _model0(B.dims1(1), 4);
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.WrongContentLength.selector, 8, 5));
        _reader.foldTops(_word, new bytes32[](8));
        _model0(B.dims1(1), 129);
        vm.expectRevert(abi.encodeWithSelector(ITraceReader.WrongContentLength.selector, 3, 4));
        _reader.foldTops(_word, new bytes32[](3));
    }
}
