// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {LayerBuilder} from "../../../../verifier-contracts/execution/LayerBuilder.sol";
import {CompiledLayer} from "../../../../verifier-contracts/execution/compiled/CompiledLayer.sol";
import {ILayerBuilder} from "../../../../verifier-contracts/interfaces/ILayerBuilder.sol";
import {IModelRegistry} from "../../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ModelId} from "../../../../verifier-contracts/types/Types.sol";
import {NaiveTree} from "../../libraries/NaiveTree.sol";
import {ProgramBuilder as B} from "../../registry/ProgramBuilder.sol";
import {LayerCase} from "./LayerFixture.sol";
import {RandomLayers} from "./RandomLayers.sol";

/// @notice What the builder refuses, and that nobody can stand in another's way.
contract LayerBuilderTest is RandomLayers {
    using B for B.Draft;

    LayerCase private _l;
    ModelId private _model;
    uint256 private _partRows;

    function setUp() public override {
        super.setUp();
        LayerCase memory l;
        // 33 rows in parts of 21: the second range ends beside padding.
        (l.length, l.rows, l.groups, l.outputs, l.variant) = (300, 33, 1, 2, 1);
        fill(l, 1, false);
        _l = l;
        _model = registerLayer(l);
        (, _partRows) = builder.stepParts(_model, STEP);
    }

    function _build(uint256 first) private returns (address) {
        return buildPart(_model, _l, first, _partRows);
    }

    function _arguments(uint256 first)
        private
        view
        returns (bytes32[] memory words, bytes32[] memory siblings)
    {
        LayerCase memory l = _l;
        uint256 count = rowsFrom(l, first, _partRows);
        return (rowsOf(l, first, count), siblingsOf(l, first, count));
    }

    function test_stepParts_layer_succeeds() public view {
        (uint256 rows, uint256 partRows) = builder.stepParts(_model, STEP);
        assertEq(rows, 33);
        assertEq(partRows, 21);
    }

    function test_stepParts_noDot_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.NotDot.selector, 0, 1));
        builder.stepParts(_model, 0);
    }

    function test_build_noDot_reverts() public {
        (bytes32[] memory words, bytes32[] memory siblings) = _arguments(0);
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.NotDot.selector, 0, 1));
        builder.build(_model, 0, 0, words, siblings);
    }

    function test_build_stepOutside_reverts() public {
        (bytes32[] memory words, bytes32[] memory siblings) = _arguments(0);
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.StepOutOfRange.selector, 2, 2));
        builder.build(_model, 2, 0, words, siblings);
    }

    function test_build_floatForm_reverts() public {
        LayerCase memory l = _l;
        l.variant = 2;
        ModelId model = registerLayer(l);
        (bytes32[] memory words, bytes32[] memory siblings) = _arguments(0);
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.FloatForm.selector, STEP));
        builder.build(model, STEP, 0, words, siblings);
    }

    function test_build_unknownModel_reverts() public {
        ModelId unknown = ModelId.wrap(keccak256("unknown"));
        (bytes32[] memory words, bytes32[] memory siblings) = _arguments(0);
        vm.expectRevert(abi.encodeWithSelector(IModelRegistry.UnknownModel.selector, unknown));
        builder.build(unknown, STEP, 0, words, siblings);
    }

    /// @dev Whatever rows an attacker brings: parts begin at multiples of partRows or not at all.
    /// forge-config: default.fuzz.runs = 64
    function testFuzz_build_oddBoundary_reverts(uint256 first) public {
        vm.assume(first != 0 && first != 21);
        LayerCase memory l = _l;
        uint256 from = first % l.rows;
        uint256 count = rowsFrom(l, from, _partRows);
        bytes32[] memory words = rowsOf(l, from, count);
        bytes32[] memory siblings = siblingsOf(l, from, count);
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.WrongFirstRow.selector, first, 21, 33));
        builder.build(_model, STEP, first, words, siblings);
    }

    /// @dev A part of fewer rows, all of them right, would make the honest one impossible or the step slow.
    function test_build_shorterPart_reverts() public {
        LayerCase memory l = _l;
        bytes32[] memory words = rowsOf(l, 0, 1);
        bytes32[] memory siblings = siblingsOf(l, 0, 1);
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.WrongWordCount.selector, 11, 21 * 11));
        builder.build(_model, STEP, 0, words, siblings);
        assertTrue(_build(0) != address(0));
    }

    function test_build_siblingCount_reverts() public {
        (bytes32[] memory words, bytes32[] memory siblings) = _arguments(21);
        bytes32[] memory fewer = new bytes32[](siblings.length - 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                ILayerBuilder.WrongSiblingCount.selector, siblings.length - 1, siblings.length
            )
        );
        builder.build(_model, STEP, 21, words, fewer);
        bytes32[] memory more = new bytes32[](siblings.length + 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                ILayerBuilder.WrongSiblingCount.selector, siblings.length + 1, siblings.length
            )
        );
        builder.build(_model, STEP, 21, words, more);
    }

    /// @dev A bit of any word: what folds is the root of the weights with that bit flipped.
    /// forge-config: default.fuzz.runs = 64
    function testFuzz_build_anyCorruptedWord_reverts(uint256 place, uint8 bit) public {
        LayerCase memory l = _l;
        place = bound(place, 0, l.words.length - 1);
        uint256 first = place / 11 < 21 ? 0 : 21;
        (, bytes32[] memory siblings) = _arguments(first);
        bytes32 required = NaiveTree.rootOf(NaiveTree.padded(weightRoots(l)));
        l.words[place] ^= bytes32(uint256(1) << bit);
        bytes32[] memory words = rowsOf(l, first, rowsFrom(l, first, 21));
        bytes32 folded = NaiveTree.rootOf(NaiveTree.padded(weightRoots(l)));
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.WrongRoot.selector, folded, required));
        builder.build(_model, STEP, first, words, siblings);
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_build_anyCorruptedSibling_reverts(uint256 place, uint8 bit) public {
        (bytes32[] memory words, bytes32[] memory siblings) = _arguments(21);
        siblings[bound(place, 0, siblings.length - 1)] ^= bytes32(uint256(1) << bit);
        vm.expectPartialRevert(ILayerBuilder.WrongRoot.selector);
        builder.build(_model, STEP, 21, words, siblings);
    }

    /// @dev Rows 0 to 11 shown as rows 21 to 32.
    function test_build_otherRows_reverts() public {
        LayerCase memory l = _l;
        bytes32[] memory words = rowsOf(l, 0, 12);
        (, bytes32[] memory siblings) = _arguments(21);
        vm.expectPartialRevert(ILayerBuilder.WrongRoot.selector);
        builder.build(_model, STEP, 21, words, siblings);
    }

    function test_build_twice_succeeds() public {
        address part = _build(0);
        assertTrue(part.code.length != 0);
        // Nothing is looked at any more, and nothing changes.
        vm.prank(makeAddr("another"));
        assertEq(builder.build(_model, STEP, 0, new bytes32[](3), new bytes32[](0)), part);
        assertEq(builder.partOf(_model, STEP, 0), part);
    }

    /// @dev Products with zero words are left out: weights that equal their offset cost no code.
    function test_build_zeroWords_succeeds() public {
        LayerCase memory l = _l;
        for (uint256 i = 0; i < l.words.length; ++i) {
            if (i % 11 != 10) l.words[i] = bytes32(uint256(0x8080) * (type(uint256).max / 0xFFFF));
        }
        address empty = buildPart(registerLayer(l), l, 0, _partRows);
        // One weight of one row.
        l.words[3] ^= bytes32(uint256(1) << 40);
        ModelId model = compile(l);
        // DUP, PUSH1 to PUSH30 with a word, MUL, ADD.
        uint256 more = builder.partOf(model, STEP, 0).code.length - empty.code.length;
        assertTrue(more > 3 && more <= 34, "one product");
        assertEq(compare(model, l, activationsOf(l, 4)), 66);
    }

    function test_build_event_succeeds() public {
        (bytes32[] memory words, bytes32[] memory siblings) = _arguments(21);
        address expected = vm.computeCreateAddress(address(builder), vm.getNonce(address(builder)));
        vm.expectEmit(address(builder));
        emit ILayerBuilder.PartBuilt(_model, STEP, 21, expected);
        builder.build(_model, STEP, 21, words, siblings);
    }

    /// @dev With any too little gas nothing is left behind, and the next builder succeeds.
    function test_build_outOfGas_reverts() public {
        (bytes32[] memory words, bytes32[] memory siblings) = _arguments(0);
        uint256 state = vm.snapshotState();
        uint256 length = _build(0).code.length;
        vm.revertToState(state);
        bytes memory call = abi.encodeCall(builder.build, (_model, STEP, 0, words, siblings));
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.NotCreated.selector, length));
        this.forward(call, 200 * length);
        assertEq(builder.partOf(_model, STEP, 0), address(0));
        assertTrue(_build(0) != address(0));
    }

    function forward(bytes calldata call, uint256 gasLimit) external {
        (bool success, bytes memory result) = address(builder).call{gas: gasLimit}(call);
        assembly {
            if iszero(success) { revert(add(result, 32), mload(result)) }
        }
    }

    function test_bind_partMissing_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.PartMissing.selector, STEP, 0));
        builder.bind(_model);
        _build(0);
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.PartMissing.selector, STEP, 21));
        builder.bind(_model);
        uint256 cursor = CompiledLayer.open(address(builder), _model);
        assertFalse(CompiledLayer.isAt(cursor, STEP), "not bound");
        _build(21);
        builder.bind(_model);
        assertEq(compare(_model, _l, activationsOf(_l, 3)), 66);
    }

    function test_bind_nothingToCompile_reverts() public {
        B.Draft memory d = B.start(4, 8, 3);
        d.step(0x010400, B.dims1(8), B.NONE, B.NONE, B.NONE, 0);
        ModelId model = register(d.bytesOf(), 0);
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.NothingToCompile.selector, model));
        builder.bind(model);
    }

    function test_bind_twice_succeeds() public {
        _build(0);
        _build(21);
        address directory = builder.directoryOf(_model);
        vm.expectEmit(address(builder));
        emit ILayerBuilder.ModelBound(_model, directory);
        assertEq(builder.bind(_model), directory);
        bytes memory code = directory.code;
        assertEq(code.length, 65);
        assertEq(uint8(code[0]), 0);
        vm.prank(makeAddr("another"));
        assertEq(builder.bind(_model), directory);
        assertEq(directory.code, code);
    }

    /// @dev The directory's word for word: address, bytes made, first byte, step + 1.
    function test_bind_words_succeeds() public {
        address a = _build(0);
        address b = _build(21);
        uint256 first = (2 << 224) | (21 << 160) | uint256(uint160(a));
        uint256 second = (2 << 224) | (21 << 192) | (12 << 160) | uint256(uint160(b));
        assertEq(builder.bind(_model).code, abi.encodePacked(uint8(0), first, second));
    }

    /// @dev Too little gas for the directory leaves neither it nor its creator behind.
    function test_bind_outOfGas_reverts() public {
        _build(0);
        _build(21);
        bytes memory call = abi.encodeCall(builder.bind, (_model));
        bool failed;
        for (uint256 gasLimit = 60_000; gasLimit < 110_000; gasLimit += 1000) {
            uint256 state = vm.snapshotState();
            try this.forward(call, gasLimit) {
                assertTrue(failed, "some limit fails at the creation");
                vm.revertToState(state);
                break;
            } catch (bytes memory reason) {
                bytes memory named = abi.encodeWithSelector(ILayerBuilder.NotCreated.selector, 65);
                if (keccak256(reason) == keccak256(named)) failed = true;
                assertEq(builder.directoryOf(_model).code.length, 0);
            }
        }
        assertTrue(failed, "NotCreated was seen");
        assertEq(builder.bind(_model), builder.directoryOf(_model));
    }

    /// @dev The creator obeys anybody, but what it creates later is at other addresses.
    function test_bind_creatorCalledByStranger_succeeds() public {
        _build(0);
        _build(21);
        address directory = builder.bind(_model);
        bytes memory code = directory.code;
        address creator = CompiledLayer.creatorOf(address(builder), _model);
        (bool success,) = creator.call(hex"60015f5360015ff3");
        assertTrue(success);
        assertEq(directory.code, code);
        assertEq(vm.computeCreateAddress(creator, 1), directory);
        assertTrue(vm.computeCreateAddress(creator, 2).code.length != 0, "it did create");
    }

    /// @dev Two builders, or two registries, never share a directory.
    function test_directoryOf_otherBuilder_succeeds() public {
        LayerBuilder other = new LayerBuilder(registry);
        assertTrue(other.directoryOf(_model) != builder.directoryOf(_model));
    }

    /// @dev Short calldata would read as zeros.
    /// forge-config: default.fuzz.runs = 64
    function testFuzz_part_wrongLength_reverts(uint16 length) public {
        vm.assume(length % 300 != 0 || length == 0);
        address part = _build(0);
        (bool success, bytes memory result) = part.staticcall(new bytes(length));
        assertFalse(success);
        assertEq(result.length, 0);
    }

    function test_run_wrongLength_reverts() public {
        address part = _build(0);
        _build(21);
        builder.bind(_model);
        bytes memory short = new bytes(599);
        vm.expectRevert(abi.encodeWithSelector(CompiledLayer.PartFailed.selector, part));
        this.runCompiled(_model, _l, short);
        // Of the right stride, but another number of rows than the output has.
        short = new bytes(300);
        vm.expectRevert(abi.encodeWithSelector(CompiledLayer.PartFailed.selector, part));
        this.runCompiled(_model, _l, short);
    }

    function test_run_outOfGas_reverts() public {
        address part = _build(0);
        _build(21);
        builder.bind(_model);
        bytes memory activations = activationsOf(_l, 3);
        bool failed;
        for (uint256 gasLimit = 20_000; gasLimit < 200_000 && !failed; gasLimit += 1000) {
            try this.runCompiled{gas: gasLimit}(_model, _l, activations) {}
            catch (bytes memory reason) {
                bytes memory named = abi.encodeWithSelector(CompiledLayer.PartFailed.selector, part);
                failed = keccak256(reason) == keccak256(named);
            }
        }
        assertTrue(failed, "a part without enough gas is no answer");
    }

    /// @dev Steps in order, a binary32 step and a step without DOT between them; one weight tensor serves two steps.
    function test_bind_severalSteps_succeeds() public {
        LayerCase memory l;
        (l.length, l.rows, l.groups, l.outputs, l.variant) = (40, 40, 1, 3, 1);
        fill(l, 5, true);
        B.Draft memory d = B.start(4, 120, 3);
        d.weight(1, 0, B.dims1(5));
        d.weight(2, 0, B.dims2(40, 40));
        d.weight(1, 0, B.dims1(7));
        d.step(0x010400, B.dims2(3, 40), B.NONE, B.NONE, B.NONE, 0);
        d.step(0x040100, B.dims2(3, 40), 0, B.W1, B.NONE, 1);
        d.step(0x040200, B.dims2(3, 40), 1, B.W1, B.NONE, 1);
        d.step(0x040002, B.dims2(3, 40), 1, B.W1, B.NONE, 1);
        ModelId model = register(d.bytesOf(), NaiveTree.rootOf(NaiveTree.padded(weightRoots(l))));
        bytes32[] memory siblings = siblingsOf(l, 0, 40);
        builder.build(model, 1, 0, l.words, siblings);
        vm.expectRevert(abi.encodeWithSelector(ILayerBuilder.PartMissing.selector, 3, 0));
        builder.bind(model);
        builder.build(model, 3, 0, l.words, siblings);
        builder.bind(model);
        this.checkTwoSteps(model, l);
    }

    function checkTwoSteps(ModelId model, LayerCase memory l) external view {
        bytes memory activations = activationsOf(l, 13);
        bytes memory hidden = new bytes(120);
        bytes memory output = new bytes(480);
        uint256 cursor = CompiledLayer.open(address(builder), model);
        uint256 a;
        uint256 h;
        uint256 o;
        assembly {
            a := add(activations, 32)
            h := add(hidden, 32)
            o := add(output, 32)
        }
        bool[4] memory compiled;
        for (uint256 step = 0; step < 4; ++step) {
            compiled[step] = CompiledLayer.isAt(cursor, step);
            if (step == 1) cursor = CompiledLayer.run(cursor, a, 120, h, 3, 40);
            if (step == 3) cursor = CompiledLayer.run(cursor, h, 120, o, 3, 160);
        }
        assertTrue(compiled[1] && compiled[3] && !compiled[0] && !compiled[2]);
        assertEq(hidden, runJudged(l, activations));
        l.variant = 0;
        assertEq(output, runJudged(l, hidden));
    }
}
