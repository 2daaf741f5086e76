// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../../verifier-contracts/Assay.sol";
import {IJudge} from "../../../../verifier-contracts/interfaces/IJudge.sol";
import {IModelRegistry} from "../../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ITraceReader} from "../../../../verifier-contracts/interfaces/ITraceReader.sol";
import {Orders} from "../../../../verifier-contracts/libraries/Orders.sol";
import {
    Claim,
    ClaimId,
    LANE_BOND,
    LANE_EXECUTION,
    LANE_PROOF,
    ModelId,
    Opening,
    Policy,
    Request,
    RequestId
} from "../../../../verifier-contracts/types/Types.sol";
import {Test} from "../Test.sol";
import {HonestTruth, LyingTruth, TestJudge, TestRegistry, TestTraceReader} from "./TestParts.sol";

/// @notice A deployment with a settable verdict, and one line for each move.
abstract contract AssayFixture is Test {
    uint40 internal constant T = 100;
    uint8 internal constant DEPTH = 3;
    uint32 internal constant WINDOW = 1_000;
    uint256 internal constant L = (2 * uint256(DEPTH) + 2) * T + 1;
    uint64 internal constant FLOOR = 1 gwei;
    uint64 internal constant GAS_BASE = 145_000;
    uint64 internal constant GAS_PER_DEMAND = 122_000;
    uint96 internal constant FEE = 0.01 ether;
    uint96 internal constant DELIVERY_FEE = 0.002 ether;
    uint256 internal constant OUTPUT_BYTES = 64;
    bytes4 internal constant SELECTOR = 0x1fa40e5a;
    uint8 internal constant ALL_LANES = LANE_EXECUTION | LANE_PROOF | LANE_BOND;
    ModelId internal constant MODEL = ModelId.wrap(keccak256("model"));
    bytes32 internal constant ROOT = keccak256("trace root");

    TestRegistry internal registry;
    HonestTruth internal execution;
    LyingTruth internal proof;
    Assay internal assay;

    address internal immutable requester = makeAddr("requester");
    address internal immutable prover = makeAddr("prover");
    address internal immutable operator = makeAddr("operator");
    address internal immutable alice = makeAddr("alice");
    address internal immutable bob = makeAddr("bob");
    address internal immutable stranger = makeAddr("stranger");

    function setUp() public virtual {
        registry = new TestRegistry();
        execution = new HonestTruth();
        proof = new LyingTruth();
        registry.setModel(MODEL, _modelWord(ALL_LANES, DEPTH));
        assay = _deployAssay(T);
        vm.warp(1_800_000_000);
        vm.fee(0);
        address[6] memory accounts = [requester, prover, operator, alice, bob, stranger];
        for (uint256 i; i < accounts.length; i++) {
            vm.deal(accounts[i], 1_000 ether);
        }
    }

    function _deployAssay(uint40 answerSeconds) internal returns (Assay) {
        return new Assay(
            IModelRegistry(address(registry)),
            IJudge(address(new TestJudge())),
            ITraceReader(address(new TestTraceReader())),
            execution,
            proof,
            answerSeconds,
            FLOOR,
            GAS_BASE,
            GAS_PER_DEMAND
        );
    }

    function _modelWord(uint256 lanes, uint256 depth) internal pure returns (uint256) {
        uint256 head = 1 | lanes << 8 | depth << 16 | uint256(uint32(SELECTOR)) << 64 | OUTPUT_BYTES << 128;
        // Input codec int16s, 32 of them: two words.
        return head | uint256(3) << 160 | uint256(32) << 176;
    }

    // What is asked and said

    function _input() internal pure virtual returns (bytes memory) {
        uint256[] memory words = new uint256[](2);
        (words[0], words[1]) = (1, 2);
        return abi.encodeWithSelector(SELECTOR, words);
    }

    function _right() internal pure returns (bytes memory) {
        return abi.encode(uint256(11), uint256(22));
    }

    function _wrong() internal pure returns (bytes memory) {
        return abi.encode(uint256(11), uint256(23));
    }

    function _newRequest() internal view returns (Request memory r) {
        r.requester = requester;
        r.modelId = MODEL;
        r.inputHash = keccak256(_input());
        r.lanes = ALL_LANES;
        r.fee = FEE;
        r.window = WINDOW;
        r.expiry = uint40(block.timestamp + 1 days);
        r.salt = 1;
    }

    // Moves

    function _file(Request memory r) internal returns (RequestId) {
        vm.prank(r.requester);
        return assay.request{value: uint256(r.fee) + r.deliveryFee}(r.modelId, Orders.pack(r, _input()));
    }

    /// @notice The claim that `claimant` would make now.
    function _claimOf(Request memory r, address claimant, bytes memory output)
        internal
        view
        returns (Claim memory c)
    {
        c.requestId = assay.requestIdOf(r);
        c.modelId = r.modelId;
        c.attempt = uint32(assay.requestWord(c.requestId) >> 24);
        c.prover = claimant;
        c.operator = operator;
        c.outputHash = keccak256(output);
        c.gasPrice = FLOOR;
        (c.bond, c.ticketBond) = assay.bondsOf(r, FLOOR);
    }

    function _claim(Request memory r, address claimant, bytes memory output)
        internal
        returns (Claim memory c)
    {
        c = _claimOf(r, claimant, output);
        vm.prank(claimant);
        assay.claim{value: c.bond}(r, operator, FLOOR, output);
    }

    function _filedAndClaimed(bytes memory output) internal returns (Request memory r, Claim memory c) {
        r = _newRequest();
        _file(r);
        c = _claim(r, prover, output);
    }

    function _challenge(Claim memory c, address owner) internal {
        vm.prank(owner);
        assay.challenge{value: c.ticketBond}(c);
    }

    function _commit(Claim memory c) internal {
        vm.prank(c.prover);
        assay.commitTrace(c, _one(ROOT));
    }

    function _demand(Claim memory c, address owner, uint64 position) internal {
        vm.prank(owner);
        assay.demand(c, ROOT, position);
    }

    function _reveal(Claim memory c, uint64 position) internal {
        assay.reveal(c, position, _one(ROOT), new bytes32[](0));
    }

    /// @notice A claim that one ticket disputes, with its trace.
    function _disputed() internal returns (Request memory r, Claim memory c) {
        (r, c) = _filedAndClaimed(_wrong());
        _challenge(c, alice);
        _commit(c);
    }

    function _convict(Claim memory c) internal {
        assay.convictOutput(c, _wrong(), uint256(keccak256(_right())), new Opening[](0));
    }

    function _settleExecution(Request memory r, Claim memory c, address submitter, bytes memory output)
        internal
    {
        execution.setRight(MODEL, _input(), output);
        bytes memory evidence = execution.evidenceFor(submitter);
        vm.prank(submitter);
        assay.settle(r, c, LANE_EXECUTION, _input(), output, evidence);
    }

    // Reading

    function _one(bytes32 word) internal pure returns (bytes32[] memory words) {
        words = new bytes32[](1);
        words[0] = word;
    }

    function _requestState(Request memory r) internal view returns (uint8) {
        return uint8(assay.requestWord(assay.requestIdOf(r)));
    }

    function _claimState(Claim memory c) internal view returns (uint8) {
        return uint8(assay.claimWord(assay.claimIdOf(c)) >> 224);
    }

    function _field(Claim memory c, uint256 offset, uint256 bits) internal view returns (uint256) {
        return (assay.claimWord(assay.claimIdOf(c)) >> offset) & ((1 << bits) - 1);
    }

    function _noClaim() internal pure returns (Claim memory c) {}

    function _policy(Request memory r) internal pure returns (Policy memory) {
        return Policy(r.modelId, r.inputHash, ALL_LANES, 0, 0);
    }

    function _id(Claim memory c) internal view returns (ClaimId) {
        return assay.claimIdOf(c);
    }
}
