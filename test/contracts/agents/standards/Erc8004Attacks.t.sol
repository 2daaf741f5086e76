// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {
    Erc8004Validator,
    Statement
} from "../../../../verifier-contracts/agents/standards/Erc8004Validator.sol";
import {
    IValidationRegistry
} from "../../../../verifier-contracts/agents/standards/interfaces/IValidationRegistry.sol";
import {Claim, Request} from "../../../../verifier-contracts/types/Types.sol";
import {Erc8004Fixture} from "./Erc8004Fixture.sol";

/// @dev What others may try with an agent's answers: registries show every hash before it is filed, statements are
/// public, and an agent can be sold.
contract Erc8004AttacksTest is Erc8004Fixture {
    uint256 private strangersAgent;

    function setUp() public override {
        super.setUp();
        vm.prank(stranger);
        strangersAgent = identity.register();
    }

    /// @dev Attack: a stranger sees the request on its way and files its hash first, for an agent of his own.
    function test_respond_takenOver_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _statement(r, c, _right());
        _askFor(stranger, strangersAgent, statement);
        vm.expectRevert(
            abi.encodeWithSelector(
                Erc8004Validator.OtherAgent.selector, _hash(statement), strangersAgent, agentId
            )
        );
        vm.prank(stranger);
        validator.respond(statement);
        _assertSummary(strangersAgent, 0, 0);
        // The registry keeps the hash for the stranger; another salt is another hash.
        vm.expectRevert(bytes("exists"));
        vm.prank(prover);
        validations.validationRequest(address(validator), agentId, "", _hash(statement));
        statement.salt = 1;
        _ask(prover, statement);
        validator.respond(statement);
        _assertStatus(statement, 100, "hard");
        _assertSummary(agentId, 1, 100);
        _assertSummary(strangersAgent, 0, 0);
    }

    /// @dev Attack: the hash is filed first for another validator.
    function test_respond_filedForOtherValidator_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _statement(r, c, _right());
        bytes32 hash = _hash(statement);
        vm.prank(prover);
        validations.validationRequest(stranger, agentId, "", hash);
        vm.expectRevert(bytes("not validator"));
        validator.respond(statement);
        assertTrue(validator.answerOf(hash) == Erc8004Validator.Answer.NONE);
    }

    /// @dev Attack: a stranger's agent states what others asked and claimed, and wants the hundred for it.
    function test_respond_strangersClaim_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _statement(r, c, _right());
        statement.agentId = strangersAgent;
        _ask(stranger, statement);
        _expectNotOfAgent(statement);
        _assertSummary(strangersAgent, 0, 0);
    }

    /// @dev Attack: a stranger's request names the agent of somebody else.
    function test_respond_strangersAgent_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _statement(r, c, _right());
        vm.prank(stranger);
        vm.expectRevert(bytes("Not authorized"));
        validations.validationRequest(address(validator), agentId, "", _hash(statement));
    }

    /// @dev Attack: the same number of another registry's agent.
    function test_respond_otherIdentityRegistry_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _statement(r, c, _right());
        statement.identityRegistry = stranger;
        _ask(prover, statement);
        vm.expectRevert(abi.encodeWithSelector(Erc8004Validator.OtherIdentityRegistry.selector, stranger));
        validator.respond(statement);
    }

    /// @dev The agent that asked the model has a part in the claim too, by its owner.
    function test_respond_requestersAgent_succeeds() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _statement(r, c, _right());
        vm.prank(r.requester);
        statement.agentId = identity.register();
        _ask(r.requester, statement);
        validator.respond(statement);
        _assertStatus(statement, 100, "hard");
    }

    /// @dev The prover's key is not the owner's: the registry has it as the agent's wallet.
    function test_respond_walletsClaim_succeeds() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _statement(r, c, _right());
        vm.prank(alice);
        statement.agentId = identity.register();
        _ask(alice, statement);
        _expectNotOfAgent(statement);
        vm.prank(alice);
        identity.setAgentWallet(statement.agentId, prover);
        validator.respond(statement);
        _assertStatus(statement, 100, "hard");
    }

    /// @dev Attack: with a soft 50 taken, the agent is sold before the claim falls, to escape the 0.
    function test_respond_soldAgent_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_wrong());
        Statement memory statement = _asked(r, c, _wrong());
        validator.respond(statement);
        vm.prank(prover);
        identity.transferFrom(prover, alice, agentId);
        assertEq(identity.getAgentWallet(agentId), address(0));
        _settleRight(r, c);
        validator.respond(statement);
        _assertStatus(statement, 0, "hard");
    }

    /// @dev Attack: who bought an agent states what its last owner claimed; nothing was answered while he had it.
    function test_respond_boughtAgent_reverts() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _asked(r, c, _right());
        vm.prank(prover);
        identity.transferFrom(prover, alice, agentId);
        _expectNotOfAgent(statement);
    }

    /// @dev Whatever of a statement is changed, its hash is one that nobody filed.
    function testFuzz_respond_anyField_reverts(uint256 seed) public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _asked(r, c, _right());
        uint256 field = seed % 3;
        if (field == 0) statement.agentId = strangersAgent;
        if (field == 1) statement.salt = seed | 1;
        if (field == 2) statement.agentId = seed;
        vm.assume(_hash(statement) != _hash(_statement(r, c, _right())));
        vm.expectRevert(bytes("unknown"));
        validator.respond(statement);
    }

    /// @dev An operator of the agent asks as its owner would.
    function test_respond_operatorAsks_succeeds() public {
        (Request memory r, Claim memory c) = _finalClaim();
        Statement memory statement = _statement(r, c, _right());
        vm.prank(prover);
        identity.setApprovalForAll(alice, true);
        vm.expectEmit(true, true, true, true, address(validations));
        emit IValidationRegistry.ValidationRequest(
            address(validator), agentId, "https://agent.example/statement", _hash(statement)
        );
        _ask(alice, statement);
        validator.respond(statement);
        _assertStatus(statement, 100, "hard");
        address[] memory others = new address[](1);
        others[0] = stranger;
        (uint64 count,) = validations.getSummary(agentId, others, "");
        assertEq(uint256(count), 0);
        others[0] = address(validator);
        (count,) = validations.getSummary(agentId, others, "hard");
        assertEq(uint256(count), 1);
    }
}
