// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {
    Erc8004Validator,
    Statement
} from "../../../../verifier-contracts/agents/standards/Erc8004Validator.sol";
import {Claim, ClaimId, Request} from "../../../../verifier-contracts/types/Types.sol";
import {StandardsFixture} from "./StandardsFixture.sol";
import {TestIdentityRegistry, TestValidationRegistry} from "./TestValidationRegistry.sol";

/// @notice Registries of ERC-8004, the validator, and an agent of the prover's.
abstract contract Erc8004Fixture is StandardsFixture {
    TestIdentityRegistry internal identity;
    TestValidationRegistry internal validations;
    Erc8004Validator internal validator;
    uint256 internal agentId;

    function setUp() public virtual override {
        super.setUp();
        identity = new TestIdentityRegistry();
        // The first agent has number 0, which is also what a registry has for a hash that nobody filed.
        vm.prank(bob);
        identity.register();
        validations = new TestValidationRegistry(identity);
        validator = new Erc8004Validator(assay, validations, _anyLane());
        vm.prank(prover);
        agentId = identity.register();
    }

    function _statement(Request memory r, Claim memory c, bytes memory output)
        internal
        view
        returns (Statement memory)
    {
        return Statement(block.chainid, address(assay), address(identity), agentId, 0, r, c, output);
    }

    function _asked(Request memory r, Claim memory c, bytes memory output)
        internal
        returns (Statement memory s)
    {
        s = _statement(r, c, output);
        _ask(prover, s);
    }

    /// @notice The account files the statement for the agent that it names.
    function _ask(address account, Statement memory s) internal {
        _askFor(account, s.agentId, s);
    }

    function _askFor(address account, uint256 agent, Statement memory s) internal {
        vm.prank(account);
        validations.validationRequest(address(validator), agent, "https://agent.example/statement", _hash(s));
    }

    function _hash(Statement memory s) internal pure returns (bytes32) {
        return keccak256(abi.encode(s));
    }

    function _assertStatus(Statement memory s, uint8 expected, string memory expectedTag) internal view {
        (address asked, uint256 agent, uint8 response,, string memory tag, uint256 lastUpdate) =
            validations.getValidationStatus(_hash(s));
        assertEq(asked, address(validator));
        assertEq(agent, s.agentId);
        assertEq(uint256(response), uint256(expected));
        assertEq(tag, expectedTag);
        assertEq(lastUpdate, block.timestamp);
    }

    function _assertSummary(uint256 agent, uint64 expectedCount, uint8 expectedAverage) internal view {
        (uint64 count, uint8 average) = validations.getSummary(agent, new address[](0), "");
        assertEq(uint256(count), uint256(expectedCount));
        assertEq(uint256(average), uint256(expectedAverage));
    }

    function _expectNothingNew(Statement memory s, Erc8004Validator.Answer given) internal {
        vm.expectRevert(abi.encodeWithSelector(Erc8004Validator.NothingNew.selector, _hash(s), given));
        validator.respond(s);
    }

    function _expectNotOfAgent(Statement memory s) internal {
        ClaimId claimId = assay.claimIdOf(s.claim);
        vm.expectRevert(abi.encodeWithSelector(Erc8004Validator.NotOfAgent.selector, claimId, s.agentId));
        validator.respond(s);
    }
}
