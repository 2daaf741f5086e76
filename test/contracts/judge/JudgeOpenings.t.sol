// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ModelId, Opening} from "../../../verifier-contracts/types/Types.sol";
import {NaiveTree} from "../libraries/NaiveTree.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {TraceFixture} from "./TraceFixture.sol";

/// @dev What is no opening of the right place: every corrupted byte, another order, number, length or tree.
contract JudgeOpeningsTest is TraceFixture {
    using B for B.Draft;

    uint16 private constant N = B.NONE;
    uint16 private constant DOT = 0x8000;
    uint16 private constant LONG = 0;
    uint16 private constant OUT = 1;

    function setUp() public override {
        super.setUp();
        B.Draft memory d = B.start(4, 4096, 3);
        d.weight(2, 0, B.dims2(5, 70));
        commit(weightTensors, 5, 4);
        d.weight(1, 0, B.dims2(3, 7));
        commit(weightTensors, 3, 1);
        commitStep(d, 0x010400, B.dims2(6, 70), N, N, N, 0);
        commitStep(d, 0x040002, B.dims2(6, 5), LONG, DOT, N, 1);
        commitStep(d, 0x080900, B.dims2(6, 5), OUT, N, N, 0);
        registerCommitted(d);
    }

    /// @dev Element [4, 3] of the DOT step.
    function _openings() private view returns (Opening[] memory) {
        return openings(wordOf(OUT, 4, 0), rowOf(LONG, 4), rowOf(DOT, 3));
    }

    function _judge(Opening[] memory list) private view {
        judge.judgeElement(modelId, traceRoot, OUT, 23, list);
    }

    function test_judgeElement_anyCorruptedByte_reverts() public {
        Opening[] memory list = _openings();
        _judge(list);
        for (uint256 i = 0; i < list.length; ++i) {
            for (uint256 j = 0; j < list[i].words.length + list[i].path.length; ++j) {
                bool isWord = j < list[i].words.length;
                bytes32[] memory part = isWord ? list[i].words : list[i].path;
                uint256 k = isWord ? j : j - list[i].words.length;
                bytes32 right = part[k];
                for (uint256 b = 0; b < 32; ++b) {
                    part[k] = right ^ bytes32(uint256(1) << (8 * b + (i + j + b) % 8));
                    vm.expectPartialRevert(IJudge.WrongRoot.selector);
                    _judge(list);
                }
                part[k] = right;
            }
        }
        _judge(list);
    }

    function test_judgeElement_wrongRoot_reverts() public {
        Opening[] memory list = _openings();
        bytes32 other = bytes32(uint256(traceRoot) ^ 1);
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongRoot.selector, traceRoot, other));
        judge.judgeElement(modelId, other, OUT, 23, list);
    }

    function test_judgeElement_neighbour_reverts() public {
        Opening[] memory list = _openings();
        list[1] = rowOf(LONG, 5);
        vm.expectPartialRevert(IJudge.WrongRoot.selector);
        _judge(list);
        list[1] = rowOf(LONG, 4);
        list[2] = rowOf(DOT, 2);
        vm.expectPartialRevert(IJudge.WrongRoot.selector);
        _judge(list);
        list[2] = rowOf(DOT, 3);
        list[0] = wordOf(OUT, 3, 0);
        vm.expectPartialRevert(IJudge.WrongRoot.selector);
        _judge(list);
    }

    /// @dev A trace root is not a weights root, not even with the right words.
    function test_judgeElement_weightsFromTrace_reverts() public {
        Opening[] memory list = _openings();
        (list[2].words, list[2].path) = (new bytes32[](4), list[1].path);
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongPathLength.selector, 5, 4));
        _judge(list);
    }

    function test_judgeElement_openingCount_reverts() public {
        Opening[] memory list = _openings();
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongOpeningCount.selector, 2, 3));
        _judge(openings(list[0], list[1]));
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongOpeningCount.selector, 0, 1));
        _judge(new Opening[](0));
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongOpeningCount.selector, 4, 3));
        _judge(openings(list[0], list[1], list[2], list[2]));
    }

    function test_judgeElement_wordCount_reverts() public {
        Opening[] memory list = _openings();
        list[0].words = new bytes32[](2);
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongWordCount.selector, 2, 1));
        _judge(list);
        list = _openings();
        // The padded row would fold to the same root.
        bytes32[] memory padded = new bytes32[](4);
        for (uint256 i = 0; i < 3; ++i) {
            padded[i] = list[1].words[i];
        }
        list[1].words = padded;
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongWordCount.selector, 4, 3));
        _judge(list);
    }

    function test_judgeElement_pathLength_reverts() public {
        Opening[] memory list = _openings();
        list[0].path = new bytes32[](6);
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongPathLength.selector, 6, 5));
        _judge(list);
        list[0].path = new bytes32[](4);
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongPathLength.selector, 4, 5));
        _judge(list);
    }

    /// @dev The same bytes as a tensor of 24 rows of one word: nothing of it can be opened in this program.
    function test_judgeElement_traceOfAnotherShape_reverts() public {
        bytes32[] memory roots = new bytes32[](4);
        for (uint256 i = 0; i < 3; ++i) {
            roots[i] =
                NaiveTree.rootOf(NaiveTree.leaves(stepTensors[i].words, stepTensors[i].words.length, 1));
        }
        bytes32[] memory leaves = NaiveTree.leaves(stepTensors[LONG].words, 18, 1);
        Opening[] memory list = _openings();
        list[0].path = NaiveTree.concat(
            NaiveTree.pathOf(NaiveTree.leaves(stepTensors[OUT].words, 6, 1), 4), NaiveTree.pathOf(roots, OUT)
        );
        list[1].path = NaiveTree.concat(NaiveTree.pathOf(leaves, 12), NaiveTree.pathOf(roots, LONG));
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongPathLength.selector, 7, 5));
        judge.judgeElement(modelId, NaiveTree.rootOf(roots), OUT, 23, list);
    }

    function test_judgeElement_outside_reverts() public {
        Opening[] memory list = _openings();
        vm.expectRevert(abi.encodeWithSelector(IJudge.StepOutOfRange.selector, 3, 3));
        judge.judgeElement(modelId, traceRoot, 3, 0, list);
        vm.expectRevert(abi.encodeWithSelector(IJudge.StepOutOfRange.selector, type(uint256).max, 3));
        judge.judgeElement(modelId, traceRoot, type(uint256).max, 0, list);
        vm.expectRevert(abi.encodeWithSelector(IJudge.ElementOutOfRange.selector, 30, 30));
        judge.judgeElement(modelId, traceRoot, OUT, 30, list);
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongOpcode.selector, LONG, 1));
        judge.judgeElement(modelId, traceRoot, LONG, 0, openings(wordOf(LONG, 0, 0)));
        ModelId unknown = ModelId.wrap(0);
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, unknown));
        judge.judgeElement(unknown, traceRoot, OUT, 0, list);
    }
}

/// @dev Trees of height 0: a root is the hash of one word, and there is nothing but the word to open.
contract JudgeOneWordTest is TraceFixture {
    using B for B.Draft;

    function test_judgeElement_oneStepOneWord_succeeds() public {
        B.Draft memory d = B.start(4, 1, 1);
        d.weight(1, 0, B.dims1(32));
        commit(weightTensors, 1, 1);
        commitStep(d, 0x080900, B.dims1(32), 0x8000, B.NONE, B.NONE, 0);
        registerCommitted(d);
        assertEq(traceRoot, keccak256(abi.encode(stepTensors[0].words[0])));
        assertEq(weightsRoot, keccak256(abi.encode(weightTensors[0].words[0])));
        Opening[] memory list = openings(wordOf(0, 0, 0), wordOf(0x8000, 0, 0));
        assertEq(list[0].path.length + list[1].path.length, 0);
        for (uint256 i = 0; i < 32; ++i) {
            (uint256 expected, uint256 claimed) = judge.judgeElement(modelId, traceRoot, 0, i, list);
            assertEq(expected, byteOf(0x8000, 0, i));
            assertEq(claimed, byteOf(0, 0, i));
        }
        list[0].path = new bytes32[](1);
        vm.expectRevert(abi.encodeWithSelector(IJudge.WrongPathLength.selector, 1, 0));
        judge.judgeElement(modelId, traceRoot, 0, 0, list);
    }

    function test_judgeElement_oneWordTensors_succeeds() public {
        B.Draft memory d = B.start(3, 8, 1);
        commitStep(d, 0x010302, B.dims1(1), B.NONE, B.NONE, B.NONE, 3);
        commitStep(d, 0x080002, B.dims1(1), 0, 0, B.NONE, 0);
        commitStep(d, 0x080202, B.dims1(1), 1, 0, B.NONE, 0);
        registerCommitted(d);
        Opening[] memory list = openings(wordOf(2, 0, 0), wordOf(1, 0, 0), wordOf(0, 0, 0));
        (uint256 expected,) = judge.judgeElement(modelId, traceRoot, 2, 0, list);
        unchecked {
            assertEq(expected, u32Of(1, 0, 0) * u32Of(0, 0, 0));
        }
    }
}
