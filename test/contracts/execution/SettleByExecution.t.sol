// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../verifier-contracts/Assay.sol";
import {CodecJudge} from "../../../verifier-contracts/CodecJudge.sol";
import {FloatJudge} from "../../../verifier-contracts/FloatJudge.sol";
import {ElementCheck} from "../../../verifier-contracts/execution/ElementCheck.sol";
import {ExecutionLane} from "../../../verifier-contracts/execution/ExecutionLane.sol";
import {Interpreter} from "../../../verifier-contracts/execution/Interpreter.sol";
import {LayerBuilder} from "../../../verifier-contracts/execution/LayerBuilder.sol";
import {WeightStore} from "../../../verifier-contracts/execution/WeightStore.sol";
import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IInterpreter} from "../../../verifier-contracts/interfaces/IInterpreter.sol";
import {ITruth} from "../../../verifier-contracts/interfaces/ITruth.sol";
import {
    Claim,
    ClaimId,
    Fall,
    LANE_EXECUTION,
    ModelId,
    Request
} from "../../../verifier-contracts/types/Types.sol";
import {DisputeFixture} from "../support/assay/DisputeFixture.sol";

/// @notice Truth by execution on the real Assay, registry and interpreter: the bench's MLP, in every state of a request,
/// its claim and its dispute.
contract SettleByExecutionTest is DisputeFixture {
    struct ModelRun {
        string name;
        bytes program;
        bytes weights;
        bytes32 weightsRoot;
        bytes4 selector;
        bytes[] inputs;
        bytes[] outputs;
    }

    /// @dev Open, claimed, challenged, trace committed, demanded, the same after an answer was due.
    uint256 private constant STATES = 6;

    WeightStore private _store;
    Interpreter private _interpreter;
    ModelRun private _run;
    address private immutable _stranger = makeAddr("stranger");
    bytes32[] private _tops;

    function setUp() public override {
        super.setUp();
        _store = new WeightStore(registry);
        FloatJudge floats = new FloatJudge();
        CodecJudge codecs = new CodecJudge();
        ElementCheck check = new ElementCheck(registry, address(_store), floats, codecs);
        address builder = address(new LayerBuilder(registry));
        _interpreter = new Interpreter(registry, address(_store), builder, floats, codecs, check);
        assay = new Assay(
            registry,
            judge,
            reader,
            new ExecutionLane(_interpreter),
            ITruth(address(0)),
            T,
            GAS_PRICE,
            145_000,
            122_000
        );
        string memory path = "test/vectors/model-runs.json";
        vm.readLine(path);
        bytes memory blob = vm.parseBytes(this.unquoted(bytes(vm.readLine(path))));
        vm.closeFile(path);
        _run = abi.decode(blob, (ModelRun));
        for (uint256 i = 0; i < 4; ++i) {
            _tops.push(keccak256(abi.encode("root", i)));
        }
    }

    /// @param agrees whether the claim's output is the right one
    function _dispute(bool agrees) private view returns (Dispute memory d) {
        (d.program, d.weightsRoot, d.selector) = (_run.program, _run.weightsRoot, _run.selector);
        (d.input, d.right) = (_run.inputs[0], _run.outputs[0]);
        d.output = agrees ? d.right : _run.outputs[1];
        d.tops = _tops;
    }

    function _publish(ModelId modelId) private {
        address[] memory chunks = new address[](1);
        chunks[0] = _store.storeChunk(_run.weights);
        assertTrue(_store.publish(modelId, chunks, type(uint256).max));
    }

    /// @dev Brings a request to a state.
    function _reach(uint256 state, bool agrees) private returns (Request memory r, Claim memory c) {
        Dispute memory d = _dispute(agrees);
        r = _requestOf(d);
        r.modelId =
            registry.register(chunksOf(d.program), d.weightsRoot, d.selector, BOND | LANE_EXECUTION, 0);
        r.lanes = BOND | LANE_EXECUTION;
        r.salt = uint64(state);
        _file(r, d);
        if (state == 0) return (r, c);
        c = _claimOf(r, d);
        _claim(r, c, d);
        if (state == 1) return (r, c);
        _challenge(c);
        if (state == 2) return (r, c);
        _commit(c, d);
        if (state == 3) return (r, c);
        bytes32 root = assay.traceRootOf(assay.claimIdOf(c));
        vm.prank(challenger);
        // The tensor of step 1, whole: its root is its only revealable node.
        assay.demand(c, root, uint64((1 << 48) | (1 << 40)));
        if (state == 5) skip(T + 1);
    }

    function _settle(Request memory r, Claim memory c, bytes memory output, bytes memory evidence) private {
        vm.prank(_stranger);
        assay.settle(r, c, LANE_EXECUTION, _run.inputs[0], output, evidence);
    }

    function _settleIn(uint256 state, bool agrees, bytes memory evidence) private {
        (Request memory r, Claim memory c) = _reach(state, agrees);
        // No wrong output, in whatever state.
        bytes memory wrong = _run.outputs[1];
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.EvidenceRejected.selector, LANE_EXECUTION, keccak256(wrong))
        );
        _settle(r, c, wrong, evidence);
        uint256 mine = assay.credits(_stranger);
        uint256 provers = assay.credits(prover);
        _settle(r, c, _run.outputs[0], evidence);
        uint256 word = assay.requestWord(assay.requestIdOf(r));
        assertEq(uint8(word), 3, "done");
        assertEq(uint8(word >> 8), LANE_EXECUTION);
        if (state == 0) {
            assertEq(assay.credits(_stranger) - mine, FEE);
            return;
        }
        uint256 claimState = uint8(assay.claimWord(assay.claimIdOf(c)) >> 224);
        if (agrees) {
            assertEq(claimState, 2, "final");
            assertEq(assay.credits(prover) - provers, c.bond + FEE + (state > 1 ? c.ticketBond / 2 : 0));
        } else {
            assertEq(claimState, 3, "fallen");
            uint256 share = state > 1 ? c.bond / 4 : c.bond / 2;
            assertEq(assay.credits(_stranger) - mine, FEE + share);
            assertEq(assay.resultOf(c.requestId), keccak256(_run.outputs[0]));
        }
    }

    function test_settle_everyStateByPublishedWeights_succeeds() public {
        (Request memory r,) = _reach(0, true);
        _publish(r.modelId);
        vm.warp(block.timestamp + 1);
        for (uint256 state = 1; state < STATES; ++state) {
            _settleIn(state, true, "");
        }
        vm.warp(block.timestamp + 1);
        for (uint256 state = 0; state < STATES; ++state) {
            _settleIn(state, false, "");
        }
    }

    function test_settle_everyStateByWeightsAlong_succeeds() public {
        for (uint256 state = 0; state < STATES; ++state) {
            _settleIn(state, false, _run.weights);
        }
    }

    function test_settle_weightsNowhere_reverts() public {
        (Request memory r, Claim memory c) = _reach(2, false);
        vm.expectRevert(abi.encodeWithSelector(IInterpreter.WeightsNotPublished.selector, r.modelId));
        _settle(r, c, _run.outputs[0], "");
    }

    /// forge-config: default.fuzz.runs = 64
    function testFuzz_settle_wrongWeightsAlong_reverts(uint256 bit) public {
        (Request memory r, Claim memory c) = _reach(2, false);
        bytes memory weights = bytes.concat(_run.weights);
        bit = bound(bit, 0, 8 * weights.length - 1);
        weights[bit / 8] ^= bytes1(uint8(1 << (bit % 8)));
        vm.expectPartialRevert(IInterpreter.WrongWeights.selector);
        _settle(r, c, _run.outputs[0], weights);
        uint256 length = weights.length;
        weights = bytes.concat(_run.weights, hex"00");
        vm.expectRevert(abi.encodeWithSelector(IInterpreter.WrongWeightsLength.selector, length + 1, length));
        _settle(r, c, _run.outputs[0], weights);
    }

    /// @dev Any other output of the right length.
    /// forge-config: default.fuzz.runs = 128
    function testFuzz_settle_wrongOutput_reverts(uint256 bit) public {
        (Request memory r, Claim memory c) = _reach(1, true);
        _publish(r.modelId);
        bytes memory output = bytes.concat(_run.outputs[0]);
        bit = bound(bit, 0, 8 * output.length - 1);
        output[bit / 8] ^= bytes1(uint8(1 << (bit % 8)));
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.EvidenceRejected.selector, LANE_EXECUTION, keccak256(output))
        );
        _settle(r, c, output, "");
    }

    function test_infer_refusals_reverts() public {
        Dispute memory d = _dispute(true);
        ModelId bonded = registry.register(chunksOf(d.program), d.weightsRoot, d.selector, BOND, 0);
        _publish(bonded);
        vm.expectRevert(abi.encodeWithSelector(IInterpreter.NotExecutable.selector, bonded, BOND));
        _interpreter.infer(bonded, d.input);
        vm.expectRevert(abi.encodeWithSelector(IInterpreter.NotExecutable.selector, bonded, BOND));
        _interpreter.inferWith(bonded, d.input, _run.weights);
        (Request memory r,) = _reach(0, true);
        _publish(r.modelId);
        vm.expectRevert(IInterpreter.InputNotCanonical.selector);
        _interpreter.infer(r.modelId, bytes.concat(d.input, hex"00"));
        vm.expectRevert(IInterpreter.InputNotCanonical.selector);
        _interpreter.infer(r.modelId, "");
        assertEq(_interpreter.infer(r.modelId, d.input), d.right);
    }

    /// @dev A final result stays.
    function test_settle_afterFinality_reverts() public {
        (Request memory r, Claim memory c) = _reach(1, false);
        _publish(r.modelId);
        skip(WINDOW);
        ClaimId id = assay.claimIdOf(c);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimIsFinal.selector, id, block.timestamp));
        _settle(r, c, _run.outputs[0], "");
        vm.expectEmit(address(assay));
        emit IAssay.Finalized(c.requestId, id, BOND, c.outputHash);
        assay.finalize(r, c);
    }

    function test_settle_fallEvent_succeeds() public {
        (Request memory r, Claim memory c) = _reach(4, false);
        _publish(r.modelId);
        bytes32 right = keccak256(_run.outputs[0]);
        vm.expectEmit(address(assay));
        emit IAssay.Fell(
            assay.claimIdOf(c), c.requestId, Fall.TRUTH, 0, 0, uint256(right), uint256(c.outputHash)
        );
        _settle(r, c, _run.outputs[0], "");
    }

    /// @dev A model that is halted in the middle of anything: no output is settled by execution any more, right or wrong,
    /// everything else goes on, and all money leaves.
    function test_settle_haltedInEveryState_succeeds() public {
        for (uint256 i = 0; i < 2 * STATES; ++i) {
            uint256 before = vm.snapshotState();
            _haltIn(i / 2, i % 2 == 0);
            vm.revertToState(before);
        }
    }

    function _haltIn(uint256 state, bool agrees) private {
        (Request memory r, Claim memory c) = _reach(state, agrees);
        _publish(r.modelId);
        _interpreter.infer(r.modelId, _run.inputs[0]);
        bytes32 all = bytes32(uint256(Interpreter.Halt.ALL));
        vm.store(address(_interpreter), keccak256(abi.encode(r.modelId, 0)), all);
        assertTrue(_interpreter.isHalted(r.modelId));
        bytes memory halted = abi.encodeWithSelector(IInterpreter.ModelHalted.selector, r.modelId);
        for (uint256 i = 0; i < 4; ++i) {
            vm.expectRevert(halted);
            _settle(r, c, _run.outputs[i % 2], i < 2 ? bytes("") : _run.weights);
        }
        if (state == 2) {
            skip(T + 1);
            assay.timeoutTrace(c);
        } else if (state >= 4) {
            skip(T + 1);
            assay.timeoutDemand(c, uint64((1 << 48) | (1 << 40)));
        } else if (state != 0) {
            skip(WINDOW + 100 * T);
            assay.finalize(r, c);
        }
        if (uint8(assay.requestWord(c.requestId)) != 3) {
            vm.warp(uint256(r.expiry) + 1);
            assay.refund(r);
        }
        if (state == 2 || state > 3) assay.collect(c, challenger);
        address[3] memory owners = [requester, prover, challenger];
        for (uint256 i = 0; i < 3; ++i) {
            if (assay.credits(owners[i]) == 0) continue;
            vm.prank(owners[i]);
            assay.withdraw(owners[i]);
        }
        if (address(assay).balance != 0) assay.pullBurn();
        assertEq(address(assay).balance, 0, "nothing stays");
    }
}
