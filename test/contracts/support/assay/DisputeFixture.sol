// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../../verifier-contracts/Assay.sol";
import {ITruth} from "../../../../verifier-contracts/interfaces/ITruth.sol";
import {Orders} from "../../../../verifier-contracts/libraries/Orders.sol";
import {Claim, ModelId, Opening, Request} from "../../../../verifier-contracts/types/Types.sol";
import {VectorFixture} from "../../judge/VectorFixture.sol";

/// @notice Assay on the real registry, trace reader and judge, and the moves of a dispute from a vector
/// (test/support/dispute-vectors.ts documents the struct).
abstract contract DisputeFixture is VectorFixture {
    struct Reveal {
        uint64 position;
        bytes32[] content;
        bytes32[] path;
    }

    struct Dispute {
        bytes program;
        bytes32 weightsRoot;
        bytes4 selector;
        bytes input;
        bytes right;
        bytes output;
        bytes32[] tops;
        bytes32 traceRoot;
        Reveal[] reveals;
        uint8 fault;
        uint256 codecStep;
        bytes32 codecRoot;
        bytes32[] codecPath;
        uint256 step;
        uint256 element;
        uint256 expected;
        uint256 claimed;
        Opening[] openings;
        uint256 outputElement;
        Opening[] outputOpenings;
    }

    uint40 internal constant T = 100;
    uint32 internal constant WINDOW = 1_000;
    uint64 internal constant GAS_PRICE = 1 gwei;
    uint96 internal constant FEE = 0.01 ether;

    Assay internal assay;
    address internal immutable requester = makeAddr("requester");
    address internal immutable prover = makeAddr("prover");
    address internal immutable challenger = makeAddr("challenger");

    function setUp() public virtual override {
        super.setUp();
        assay = new Assay(
            registry, judge, reader, ITruth(address(0)), ITruth(address(0)), T, GAS_PRICE, 145_000, 122_000
        );
        vm.warp(1_800_000_000);
        vm.fee(0);
        vm.deal(requester, 1_000 ether);
        vm.deal(prover, 1_000 ether);
        vm.deal(challenger, 1_000 ether);
    }

    function _readDispute(string memory path) internal returns (Dispute memory) {
        vm.readLine(path);
        bytes memory blob = vm.parseBytes(this.unquoted(bytes(vm.readLine(path))));
        vm.closeFile(path);
        return abi.decode(blob, (Dispute));
    }

    function _requestOf(Dispute memory d) internal returns (Request memory r) {
        r.requester = requester;
        r.modelId = registry.register(chunksOf(d.program), d.weightsRoot, d.selector, BOND, 0);
        r.inputHash = keccak256(d.input);
        r.lanes = BOND;
        r.fee = FEE;
        r.window = WINDOW;
        r.expiry = uint40(block.timestamp + 1 days);
        r.salt = type(uint64).max;
    }

    function _claimOf(Request memory r, Dispute memory d) internal view returns (Claim memory c) {
        c.requestId = assay.requestIdOf(r);
        c.modelId = r.modelId;
        c.prover = prover;
        c.outputHash = keccak256(d.output);
        c.gasPrice = GAS_PRICE;
        (c.bond, c.ticketBond) = assay.bondsOf(r, GAS_PRICE);
    }

    function _file(Request memory r, Dispute memory d) internal {
        vm.prank(requester);
        assay.request{value: r.fee}(r.modelId, Orders.pack(r, d.input));
    }

    function _claim(Request memory r, Claim memory c, Dispute memory d) internal {
        vm.prank(prover);
        assay.claim{value: c.bond}(r, address(0), GAS_PRICE, d.output);
    }

    function _challenge(Claim memory c) internal {
        vm.prank(challenger);
        assay.challenge{value: c.ticketBond}(c);
    }

    function _commit(Claim memory c, Dispute memory d) internal {
        vm.prank(prover);
        assay.commitTrace(c, d.tops);
    }

    function _demand(Claim memory c, Dispute memory d, uint256 i) internal {
        vm.prank(challenger);
        assay.demand(c, d.traceRoot, d.reveals[i].position);
    }

    function _reveal(Claim memory c, Dispute memory d, uint256 i) internal {
        vm.prank(prover);
        assay.reveal(c, d.reveals[i].position, d.reveals[i].content, d.reveals[i].path);
    }

    /// @notice The claim with its trace and all positions on the way open.
    function _interrogated(Dispute memory d) internal returns (Request memory r, Claim memory c) {
        r = _requestOf(d);
        _file(r, d);
        c = _claimOf(r, d);
        _claim(r, c, d);
        _challenge(c);
        skip(1);
        _commit(c, d);
        assertEq(assay.traceRootOf(assay.claimIdOf(c)), d.traceRoot);
        for (uint256 i; i < d.reveals.length; i++) {
            skip(1);
            _demand(c, d, i);
            skip(1);
            _reveal(c, d, i);
        }
    }
}
