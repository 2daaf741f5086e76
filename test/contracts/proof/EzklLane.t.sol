// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../verifier-contracts/Assay.sol";
import {ModelRegistry} from "../../../verifier-contracts/ModelRegistry.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {IProofLane} from "../../../verifier-contracts/interfaces/IProofLane.sol";
import {ITraceReader} from "../../../verifier-contracts/interfaces/ITraceReader.sol";
import {ITruth} from "../../../verifier-contracts/interfaces/ITruth.sol";
import {Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {EzklVerifiers} from "../../../verifier-contracts/proof/EzklVerifiers.sol";
import {ProofLane} from "../../../verifier-contracts/proof/ProofLane.sol";
import {
    Claim,
    LANE_BOND,
    LANE_PROOF,
    ModelId,
    Policy,
    Request,
    RequestId,
    Truth
} from "../../../verifier-contracts/types/Types.sol";
import {PackedSettlements} from "../support/PackedSettlements.sol";
import {TestJudge, TestTraceReader} from "../support/assay/TestParts.sol";
import {EzklFixture} from "./EzklFixture.sol";
import {YesVerifier} from "./YesVerifier.sol";

/// @notice A model without a program on the real registry, PROOF lane and Assay.
contract EzklLaneTest is EzklFixture {
    ModelRegistry private registry;
    ProofLane private lane;
    Assay private assay;
    ModelId private model;
    address private submitter;
    address private immutable requester = makeAddr("requester");
    address private immutable thief = makeAddr("thief");
    uint96 private constant FEE = 0.01 ether;

    function setUp() public override {
        super.setUp();
        vm.warp(1_800_000_000);
        vm.deal(requester, 10 ether);
        registry = new ModelRegistry();
        // Proofs are bound to the lane's address. Its code holds its constants; it has no storage yet.
        lane = ProofLane(vm.parseJsonAddress(vector, ".adapter"));
        vm.etch(address(lane), address(new ProofLane(registry)).code);
        submitter = vm.parseJsonAddress(vector, ".submitter");
        model = _register(selector, inputs, outputs, _right().key);
        assertEq(ModelId.unwrap(model), vm.parseJsonBytes32(vector, ".modelId"), "another model");
        assay = new Assay(
            registry,
            IJudge(address(new TestJudge())),
            ITraceReader(address(new TestTraceReader())),
            ITruth(address(0)),
            lane,
            5,
            1 gwei,
            145_000,
            122_000
        );
    }

    function _register(bytes4 name, uint32 numbers, uint32 results, bytes memory key)
        private
        returns (ModelId id)
    {
        id = registry.registerProofModel(name, numbers, results, keccak256(key));
        lane.storeKey(id, key);
    }

    function _isTrue(Statement memory s, address account) private view returns (bool) {
        return lane.isTrue(model, s.input, s.output, s.evidence, account);
    }

    function _request(uint8 lanes) private view returns (Request memory r) {
        r.requester = requester;
        r.modelId = model;
        r.inputHash = keccak256(_right().input);
        r.lanes = lanes;
        r.fee = FEE;
        r.window = 20;
        r.expiry = uint40(block.timestamp + 1 days);
        r.salt = 1;
    }

    function _file(Request memory r) private returns (RequestId) {
        vm.prank(requester);
        return assay.request{value: r.fee}(r.modelId, Orders.pack(r, _right().input));
    }

    function _wrong() private view returns (Statement memory s) {
        s = _right();
        s.output[31] = bytes1(uint8(s.output[31]) ^ 1);
    }

    function _none() private pure returns (Claim memory c) {}

    function test_isTrue_bound_succeeds() public {
        Statement memory s = _right();
        assertTrue(_isTrue(s, submitter), "right");
        assertFalse(_isTrue(s, thief), "another submitter");
        assertFalse(_isTrue(_wrong(), submitter), "a wrong output");
        vm.chainId(1);
        assertFalse(_isTrue(s, submitter), "another chain");
        vm.chainId(31_337);
        ProofLane twin = new ProofLane(registry);
        twin.storeKey(model, s.key);
        assertFalse(twin.isTrue(model, s.input, s.output, s.evidence, submitter), "another lane");
        bytes4 other = bytes4(uint32(selector) + 1);
        s.input = bytes.concat(other, this.tail(s.input));
        ModelId sibling = _register(other, inputs, outputs, s.key);
        assertFalse(lane.isTrue(sibling, s.input, s.output, s.evidence, submitter), "another model");
    }

    function tail(bytes calldata input) external pure returns (bytes memory) {
        return input[4:];
    }

    /// @dev The registered sizes are not the circuit's: nothing is provable, and nothing reverts.
    function test_isTrue_otherSizes_succeeds() public {
        Statement memory s = _right();
        ModelId twin = _register(selector, inputs - 1, outputs, s.key);
        assertFalse(lane.isTrue(twin, s.input, s.output, s.evidence, submitter), "inputs");
        twin = _register(selector, inputs, outputs - 1, s.key);
        assertFalse(lane.isTrue(twin, s.input, s.output, s.evidence, submitter), "outputs");
    }

    function test_areTrue_eachByItself_succeeds() public view {
        bytes[] memory batch = new bytes[](2);
        batch[0] = _packed(_right());
        batch[1] = _packed(_right());
        assertTrue(lane.areTrue(model, submitter, batch));
        assertFalse(lane.areTrue(model, thief, batch));
        batch[1] = _packed(_wrong());
        assertFalse(lane.areTrue(model, submitter, batch));
    }

    function _packed(Statement memory s) private view returns (bytes memory) {
        bytes memory order = abi.encodePacked(requester, Orders.pack(_request(LANE_PROOF), s.input));
        return PackedSettlements.pack(order, "", s.output, s.evidence);
    }

    function test_storeKey_shortEzklKey_reverts() public {
        bytes memory short = new bytes(40);
        short[0] = 0x02;
        ModelId broken = registry.registerProofModel(selector, inputs, outputs, keccak256(short));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.WrongKeyLength.selector, 40, 41));
        lane.storeKey(broken, short);
    }

    /// @dev 24,575 bytes hold the head of 34 bytes and the key.
    function test_storeKey_longEzklKey_reverts() public {
        bytes memory long = new bytes(24_542);
        long[0] = 0x02;
        ModelId broken = registry.registerProofModel(selector, inputs, outputs, keccak256(long));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.WrongKeyLength.selector, 24_576, 24_575));
        lane.storeKey(broken, long);
        assembly ("memory-safe") {
            mstore(long, 24541)
        }
        broken = _register(selector, inputs, outputs, long);
        assertEq(lane.keyOf(broken).code.length, 24_576);
    }

    function test_storeKey_groth16Key_reverts() public {
        bytes memory key = _right().key;
        key[0] = 0x01;
        ModelId broken = registry.registerProofModel(selector, inputs, outputs, keccak256(key));
        vm.expectRevert(abi.encodeWithSelector(IProofLane.WrongKeyKind.selector, 1, 2));
        lane.storeKey(broken, key);
    }

    function test_create_byAnybody_succeeds() public {
        EzklVerifiers made = EzklVerifiers(address(lane.ezklVerifiers()));
        bytes memory initCode = vm.parseJsonBytes(vector, ".initCode");
        vm.prank(thief);
        address created = made.create(initCode);
        assertEq(created, made.addressOf(keccak256(initCode)));
        Statement memory s = _right();
        s.evidence = _evidence(created);
        assertTrue(_isTrue(s, submitter));
    }

    function test_request_bondLane_reverts() public {
        Request memory r = _request(LANE_PROOF | LANE_BOND);
        bytes memory order = Orders.pack(r, _right().input);
        bytes4 why = IAssayErrors.LanesInvalid.selector;
        vm.prank(requester);
        vm.expectRevert(abi.encodeWithSelector(why, LANE_PROOF | LANE_BOND, LANE_PROOF));
        assay.request{value: FEE}(model, order);
    }

    /// @dev So no ticket, no trace, no conviction: there is never a claim.
    function test_claim_withoutProgram_reverts() public {
        Request memory r = _request(LANE_PROOF);
        _file(r);
        (uint96 bond,) = assay.bondsOf(r, 1 gwei);
        bytes memory output = _right().output;
        vm.deal(thief, bond);
        vm.prank(thief);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.LaneNotAllowed.selector, LANE_BOND, LANE_PROOF));
        assay.claim{value: bond}(r, address(0), 1 gwei, output);
    }

    function test_settle_rightOutput_succeeds() public {
        Request memory r = _request(LANE_PROOF);
        RequestId id = _file(r);
        Statement memory s = _right();
        vm.prank(submitter);
        assay.settle(r, _none(), LANE_PROOF, s.input, s.output, s.evidence);
        assertEq(assay.resultOf(id), keccak256(s.output));
        assertEq(assay.credits(submitter), FEE);
        assay.requireFinal(r, _none(), s.output, Policy(model, r.inputHash, LANE_PROOF, 0, 0));
    }

    function test_settle_copiedOrWrong_reverts() public {
        Request memory r = _request(LANE_PROOF);
        _file(r);
        Statement memory s = _right();
        bytes4 why = IAssayErrors.EvidenceRejected.selector;
        vm.prank(thief);
        vm.expectRevert(abi.encodeWithSelector(why, LANE_PROOF, keccak256(s.output)));
        assay.settle(r, _none(), LANE_PROOF, s.input, s.output, s.evidence);
        s = _wrong();
        vm.prank(submitter);
        vm.expectRevert(abi.encodeWithSelector(why, LANE_PROOF, keccak256(s.output)));
        assay.settle(r, _none(), LANE_PROOF, s.input, s.output, s.evidence);
    }

    /// @dev A proof system that somebody broke says yes to everything: its model is halted, and no other.
    function test_haltProof_lyingVerifier_succeeds() public {
        address liar = address(new YesVerifier());
        Statement memory s = _right();
        bytes memory key = bytes.concat(hex"02", liar.codehash, bytes4(inputs), bytes4(outputs));
        ModelId broken = _register(selector, inputs, outputs, key);
        s.evidence = _evidence(liar);
        Truth memory one = Truth(LANE_PROOF, submitter, s.output, s.evidence);
        Truth memory other = Truth(LANE_PROOF, submitter, _wrong().output, s.evidence);
        vm.prank(thief);
        assay.haltProof(broken, s.input, one, other);
        assertTrue(assay.isProofHalted(broken), "halted");
        assertFalse(assay.isProofHalted(model), "and nothing else");
        Request memory r = _request(LANE_PROOF);
        r.modelId = broken;
        _file(r);
        vm.prank(submitter);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ProofIsHalted.selector, broken));
        assay.settle(r, _none(), LANE_PROOF, s.input, s.output, s.evidence);
        test_settle_rightOutput_succeeds();
    }

    function test_haltProof_untrue_reverts() public {
        Statement memory s = _right();
        Truth memory one = Truth(LANE_PROOF, submitter, s.output, s.evidence);
        Truth memory other = Truth(LANE_PROOF, submitter, _wrong().output, s.evidence);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.EvidenceRejected.selector, LANE_PROOF, keccak256(other.output)
            )
        );
        assay.haltProof(model, s.input, one, other);
    }
}
