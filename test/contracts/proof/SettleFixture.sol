// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Assay} from "../../../verifier-contracts/Assay.sol";
import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {ITraceReader} from "../../../verifier-contracts/interfaces/ITraceReader.sol";
import {ITruth} from "../../../verifier-contracts/interfaces/ITruth.sol";
import {Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {Claim, LANE_PROOF, Request, RequestId} from "../../../verifier-contracts/types/Types.sol";
import {Settlement} from "../support/PackedSettlements.sol";
import {TestJudge, TestTraceReader} from "../support/assay/TestParts.sol";
import {ProofFixture} from "./ProofFixture.sol";

/// @notice Assay with the real registry and PROOF lane; verdicts of disputes stand in the moves' arguments.
abstract contract SettleFixture is ProofFixture {
    uint40 internal constant T = 100;
    uint32 internal constant WINDOW = 1_000;
    uint64 internal constant FLOOR = 1 gwei;
    uint96 internal constant FEE = 0.01 ether;

    Assay internal assay;
    address internal immutable requester = makeAddr("requester");
    address internal immutable prover = makeAddr("prover");
    address internal immutable alice = makeAddr("alice");

    function setUp() public virtual override {
        super.setUp();
        assay = new Assay(
            registry,
            IJudge(address(new TestJudge())),
            ITraceReader(address(new TestTraceReader())),
            ITruth(address(0)),
            lane,
            T,
            FLOOR,
            145_000,
            122_000
        );
        vm.warp(1_800_000_000);
        vm.fee(0);
        vm.deal(requester, 1_000 ether);
        vm.deal(prover, 1_000 ether);
        vm.deal(alice, 1_000 ether);
    }

    function _requestOf(uint256 i) internal view returns (Request memory r) {
        r.requester = requester;
        r.modelId = model;
        r.inputHash = keccak256(inputs[i]);
        r.lanes = lanes;
        r.fee = FEE;
        r.window = WINDOW;
        r.expiry = uint40(block.timestamp + 1 days);
        r.salt = 1;
    }

    function _file(Request memory r, uint256 i) internal returns (RequestId) {
        vm.prank(requester);
        return assay.request{value: FEE}(r.modelId, Orders.pack(r, inputs[i]));
    }

    function _claim(Request memory r, bytes memory output) internal returns (Claim memory c) {
        c.requestId = assay.requestIdOf(r);
        c.modelId = r.modelId;
        c.prover = prover;
        c.outputHash = keccak256(output);
        c.gasPrice = FLOOR;
        (c.bond, c.ticketBond) = assay.bondsOf(r, FLOOR);
        vm.prank(prover);
        assay.claim{value: c.bond}(r, address(0), FLOOR, output);
    }

    function _settle(Request memory r, Claim memory c) internal {
        (bytes memory input, bytes memory output, bytes memory proof) = (inputs[0], outputs[0], proofs[0]);
        vm.prank(submitter);
        assay.settle(r, c, LANE_PROOF, input, output, proof);
    }

    /// @notice Files the first `count` requests.
    function _batch(uint256 count) internal returns (Settlement[] memory batch) {
        batch = new Settlement[](count);
        for (uint256 i = 0; i < count; ++i) {
            Settlement memory s = batch[i];
            s.request = _requestOf(i);
            (s.input, s.output, s.evidence) = (inputs[i], outputs[i], proofs[i]);
            _file(s.request, i);
        }
    }

    function _noClaim() internal pure returns (Claim memory c) {}

    function _isSettled(Request memory r, bytes memory output) internal view {
        RequestId id = assay.requestIdOf(r);
        assertEq(uint8(assay.requestWord(id)), 3, "not DONE");
        assertEq(uint8(assay.requestWord(id) >> 8), LANE_PROOF, "not by PROOF");
        assertEq(assay.resultOf(id), keccak256(output), "another result");
    }
}
