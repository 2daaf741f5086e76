// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {
    Erc8004Validator,
    Statement
} from "../../../../verifier-contracts/agents/standards/Erc8004Validator.sol";
import {FinalityTerms} from "../../../../verifier-contracts/agents/standards/Finality.sol";
import {
    IValidationRegistry
} from "../../../../verifier-contracts/agents/standards/interfaces/IValidationRegistry.sol";
import {Claim, ClaimId, LANE_EXECUTION, Request} from "../../../../verifier-contracts/types/Types.sol";
import {Erc8004Fixture} from "./Erc8004Fixture.sol";

/// @dev ERC-8004, section "Validation Registry".
contract Erc8004ValidatorTest is Erc8004Fixture {
    function test_respond_softThenHard_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        Statement memory statement = _asked(r, c, _right());
        bytes32 claimId = ClaimId.unwrap(assay.claimIdOf(c));
        vm.expectEmit(true, true, true, true, address(validations));
        emit IValidationRegistry.ValidationResponse(
            address(validator), agentId, _hash(statement), 50, "", claimId, "soft"
        );
        vm.prank(stranger);
        validator.respond(statement);
        _assertStatus(statement, 50, "soft");
        _expectNothingNew(statement, Erc8004Validator.Answer.SOFT);
        skip(WINDOW);
        validator.respond(statement);
        _assertStatus(statement, 100, "hard");
        _expectNothingNew(statement, Erc8004Validator.Answer.HARD);
        assay.finalize(r, c);
        skip(365 days);
        _expectNothingNew(statement, Erc8004Validator.Answer.HARD);
    }

    function test_respond_softThenFallen_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_wrong());
        Statement memory statement = _asked(r, c, _wrong());
        validator.respond(statement);
        _challenge(c, alice);
        _commit(c);
        _expectNothingNew(statement, Erc8004Validator.Answer.SOFT);
        _convict(c);
        validator.respond(statement);
        _assertStatus(statement, 0, "hard");
        _expectNothingNew(statement, Erc8004Validator.Answer.HARD);
    }

    function test_respond_hardAtOnce_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        Statement memory statement = _asked(r, c, _right());
        _settleRight(r, c);
        validator.respond(statement);
        _assertStatus(statement, 100, "hard");
    }

    function test_respond_fellByTruth_succeeds() public {
        (Request memory r, Claim memory c) = _fallenClaim();
        Statement memory statement = _asked(r, c, _wrong());
        validator.respond(statement);
        _assertStatus(statement, 0, "hard");
    }

    /// @dev Attack: a claim of a wei, which nobody would bother to challenge, becomes final and wants its hundred.
    function test_respond_belowTerms_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        FinalityTerms[3] memory terms = [
            FinalityTerms(LANE_EXECUTION, 0, 0),
            FinalityTerms(ALL_LANES, c.bond + 1, 0),
            FinalityTerms(ALL_LANES, 0, WINDOW + 1)
        ];
        Erc8004Validator[3] memory strict;
        Statement memory statement = _statement(r, c, _right());
        bytes memory why = abi.encodeWithSelector(Erc8004Validator.TermsNotMet.selector, assay.claimIdOf(c));
        for (uint256 i; i < terms.length; ++i) {
            strict[i] = new Erc8004Validator(assay, validations, terms[i]);
            statement.salt = i;
            vm.prank(prover);
            validations.validationRequest(address(strict[i]), agentId, "", _hash(statement));
            vm.expectRevert(why);
            strict[i].respond(statement);
        }
        skip(WINDOW);
        for (uint256 i; i < terms.length; ++i) {
            statement.salt = i;
            vm.expectRevert(why);
            strict[i].respond(statement);
        }
    }

    function test_respond_unknownClaim_reverts() public {
        Request memory r = _newRequest();
        _file(r);
        Claim memory c = _claimOf(r, prover, _right());
        Statement memory statement = _asked(r, c, _right());
        vm.expectRevert(abi.encodeWithSelector(Erc8004Validator.UnknownClaim.selector, assay.claimIdOf(c)));
        validator.respond(statement);
    }

    /// @dev Attack: the claim of one output vouches for another, or a claim for another request.
    function test_respond_inconsistent_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _asked(r, c, _wrong());
        vm.expectRevert(
            abi.encodeWithSelector(Erc8004Validator.StatementInconsistent.selector, _hash(statement))
        );
        validator.respond(statement);
        r.salt += 1;
        statement = _asked(r, c, _right());
        vm.expectRevert(
            abi.encodeWithSelector(Erc8004Validator.StatementInconsistent.selector, _hash(statement))
        );
        validator.respond(statement);
    }

    function test_respond_otherAssay_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _statement(r, c, _right());
        statement.chainid += 1;
        vm.expectRevert(
            abi.encodeWithSelector(Erc8004Validator.OtherAssay.selector, block.chainid + 1, address(assay))
        );
        validator.respond(statement);
        statement = _statement(r, c, _right());
        statement.assay = stranger;
        vm.expectRevert(abi.encodeWithSelector(Erc8004Validator.OtherAssay.selector, block.chainid, stranger));
        validator.respond(statement);
    }

    /// @dev Nobody asked this validator: the registry refuses, and nothing is remembered.
    function test_respond_notAsked_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _statement(r, c, _right());
        vm.expectRevert(bytes("unknown"));
        validator.respond(statement);
        assertTrue(validator.answerOf(_hash(statement)) == Erc8004Validator.Answer.NONE);
    }

    /// @dev Whatever happens in whatever order, the answers only ever climb: nothing, soft, hard, and stay there.
    function testFuzz_respond_monotonic_succeeds(uint256 seed) public {
        (Request memory r, Claim memory c) = _filedAndClaimed(seed & 1 == 0 ? _right() : _wrong());
        Statement memory statement = _asked(r, c, seed & 1 == 0 ? _right() : _wrong());
        bytes32 hash = _hash(statement);
        uint256 before;
        uint8 hardResponse;
        for (uint256 i; i < 10; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            uint256 move = seed % 5;
            if (move == 0) skip(seed % WINDOW);
            if (move == 1) try this.settleNow(r, c) {} catch {}
            if (move == 2) try this.challengeNow(c) {} catch {}
            if (move > 2) try validator.respond(statement) {} catch {}
            uint256 answer = uint256(validator.answerOf(hash));
            (,, uint8 response,,,) = validations.getValidationStatus(hash);
            assertLe(before, answer);
            if (before == 2) assertEq(uint256(response), uint256(hardResponse), "hard is for good");
            (before, hardResponse) = (answer, response);
        }
    }

    function settleNow(Request memory r, Claim memory c) external {
        _settleRight(r, c);
    }

    function challengeNow(Claim memory c) external {
        _challenge(c, alice);
    }
}
