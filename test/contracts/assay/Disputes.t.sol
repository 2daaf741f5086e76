// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {ITraceReader} from "../../../verifier-contracts/interfaces/ITraceReader.sol";
import {Claim, ClaimId, Fall, Request} from "../../../verifier-contracts/types/Types.sol";
import {DisputeFixture} from "../support/assay/DisputeFixture.sol";

/// @notice Whole games on the real registry, trace reader and judge, over traces that the executor made.
contract DisputesTest is DisputeFixture {
    uint256[6] private _played;

    function playDispute(bytes memory blob) external returns (uint256) {
        Dispute memory d = abi.decode(blob, (Dispute));
        (Request memory r, Claim memory c) = _interrogated(d);
        _played[d.fault]++;
        if (d.fault == 0) {
            _assertHonestStands(r, c, d);
            return 1;
        }
        ClaimId id = assay.claimIdOf(c);
        if (d.fault == uint8(Fall.ELEMENT)) {
            _expectFall(id, c, Fall.ELEMENT, [d.step, d.element, d.expected, d.claimed]);
            assay.convictElement(c, d.step, d.element, d.openings);
        } else if (d.fault == uint8(Fall.CODEC)) {
            // The right root is not in the vector: the judge computes it.
            (bytes32 right,) =
                judge.judgeCodec(c.modelId, d.traceRoot, d.codecStep, d.input, d.codecRoot, d.codecPath);
            _expectFall(id, c, Fall.CODEC, [d.codecStep, 0, uint256(right), uint256(d.codecRoot)]);
            assay.convictCodec(r, c, d.codecStep, d.input, d.codecRoot, d.codecPath);
        } else {
            (uint256 right, uint256 claimed) =
                judge.judgeOutput(c.modelId, d.traceRoot, d.output, d.outputElement, d.outputOpenings);
            _expectFall(id, c, Fall.OUTPUT, [0, d.outputElement, right, claimed]);
            assay.convictOutput(c, d.output, d.outputElement, d.outputOpenings);
        }
        uint256 before = assay.credits(challenger);
        assay.collect(c, challenger);
        assertEq(assay.credits(challenger) - before, c.ticketBond + c.bond / 2);
        return 1;
    }

    function _expectFall(ClaimId id, Claim memory c, Fall reason, uint256[4] memory what) private {
        vm.expectEmit(address(assay));
        emit IAssay.Fell(id, c.requestId, reason, what[0], what[1], what[2], what[3]);
    }

    /// @dev The same moves against an honest prover: nothing convicts it, and it is paid.
    function _assertHonestStands(Request memory r, Claim memory c, Dispute memory d) private {
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoFault.selector, d.expected));
        assay.convictElement(c, d.step, d.element, d.openings);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoFault.selector, d.codecRoot));
        assay.convictCodec(r, c, d.codecStep, d.input, d.codecRoot, d.codecPath);
        vm.expectPartialRevert(IAssayErrors.NoFault.selector);
        assay.convictOutput(c, d.output, d.outputElement, d.outputOpenings);
        skip(WINDOW);
        uint256 before = assay.credits(prover);
        assay.finalize(r, c);
        assertEq(assay.credits(prover) - before, c.bond + c.ticketBond / 2 + FEE);
    }

    function test_convict_realTraces_succeeds() public {
        (uint256 vectors,) = forEachVector("test/vectors/dispute.json", this.playDispute);
        assertGe(vectors, 24);
        assertGe(_played[0], 6, "honest");
        assertGe(_played[3], 6, "ELEMENT");
        assertGe(_played[4], 6, "CODEC");
        assertGe(_played[5], 6, "OUTPUT");
    }

    function test_convict_largeTrace_succeeds() public {
        forEachVector("test/vectors/dispute-large.json", this.playDispute);
        assertEq(_played[3], 1);
    }

    // What a prover may try with a trace

    function _large() private returns (Dispute memory d, Request memory r, Claim memory c) {
        d = _readDispute("test/vectors/dispute-large.json");
        r = _requestOf(d);
        _file(r, d);
        c = _claimOf(r, d);
        _claim(r, c, d);
        _challenge(c);
    }

    function test_commitTrace_otherShape_reverts() public {
        (Dispute memory d,, Claim memory c) = _large();
        bytes32[] memory tops = d.tops;
        uint256[2] memory counts = [tops.length - 1, 0];
        for (uint256 i; i < counts.length; i++) {
            vm.expectRevert(
                abi.encodeWithSelector(ITraceReader.WrongContentLength.selector, counts[i], tops.length)
            );
            vm.prank(prover);
            assay.commitTrace(c, new bytes32[](counts[i]));
        }
        _commit(c, d);
    }

    /// @dev Garbage anywhere, padding included: a position has one valid reveal.
    function checkReveals(bytes memory blob) external returns (uint256 flips) {
        Dispute memory d = abi.decode(blob, (Dispute));
        Request memory r = _requestOf(d);
        r.salt = 98;
        _file(r, d);
        Claim memory c = _claimOf(r, d);
        _claim(r, c, d);
        _challenge(c);
        _commit(c, d);
        for (uint256 i; i < d.reveals.length; i++) {
            _demand(c, d, i);
            Reveal memory good = d.reveals[i];
            for (uint256 j; j < good.content.length + good.path.length; j++) {
                bool inContent = j < good.content.length;
                bytes32[] memory part = inContent ? good.content : good.path;
                uint256 place = inContent ? j : j - good.content.length;
                bytes32 flip =
                    bytes32(uint256(1) << (uint256(keccak256(abi.encode(d.traceRoot, i, j))) % 256));
                part[place] ^= flip;
                (bool accepted, bytes memory why) = address(assay)
                    .call(abi.encodeCall(assay.reveal, (c, good.position, good.content, good.path)));
                part[place] ^= flip;
                assertFalse(accepted, "a corrupted reveal was accepted");
                bool expected = bytes4(why) == IAssayErrors.TraceMismatch.selector
                    || bytes4(why) == ITraceReader.NotCanonical.selector;
                assertTrue(expected, "for another reason");
                flips++;
            }
            _reveal(c, d, i);
        }
    }

    function test_reveal_garbage_reverts() public {
        (, uint256 flips) = forEachVector("test/vectors/dispute.json", this.checkReveals);
        assertGe(flips, 500);
    }

    function test_demand_outsideRealShape_reverts() public {
        (Dispute memory d,, Claim memory c) = _large();
        _commit(c, d);
        // Step 2 is s32 [128, 256]: 128 rows of 32 words, height 12.
        uint64 step = 2 << 48;
        uint64[6] memory outside = [
            step | 12 << 40 | 1, // a second root
            step | 13 << 40, // above the root
            step | 5 << 40, // between the levels that reveals open
            step | 6 << 40 | 64, // behind the last row
            uint64(64) << 48 | 12 << 40, // a step too many
            uint64(0xffff) << 48 | 6 << 40 // tops show all roots already
        ];
        for (uint256 i; i < outside.length; i++) {
            vm.expectRevert(abi.encodeWithSelector(IAssayErrors.PositionOutside.selector, outside[i]));
            vm.prank(challenger);
            assay.demand(c, d.traceRoot, outside[i]);
        }
        uint64[2] memory inside = [step | 6 << 40 | 63, step | 12 << 40];
        for (uint256 i; i < inside.length; i++) {
            vm.prank(challenger);
            assay.demand(c, d.traceRoot, inside[i]);
        }
    }

    function test_timeoutDemand_laterStep_succeeds() public {
        (Dispute memory d,, Claim memory c) = _large();
        _commit(c, d);
        uint64 position = uint64(2) << 48 | 12 << 40;
        vm.prank(challenger);
        assay.demand(c, d.traceRoot, position);
        skip(T + 1);
        _expectFall(assay.claimIdOf(c), c, Fall.DEMAND_TIMEOUT, [uint256(2), position, 0, 0]);
        assay.timeoutDemand(c, position);
    }

    /// @dev A cheat's own opening of another place convicts nobody.
    function test_convictElement_otherElement_reverts() public {
        Dispute memory d = _readDispute("test/vectors/dispute-large.json");
        (, Claim memory c) = _interrogated(d);
        vm.expectPartialRevert(IJudge.WrongRoot.selector);
        assay.convictElement(c, d.step, d.element + 8, d.openings);
        vm.expectPartialRevert(IJudge.WrongPathLength.selector);
        assay.convictElement(c, 0, 0, d.openings);
        assay.convictElement(c, d.step, d.element, d.openings);
    }
}
