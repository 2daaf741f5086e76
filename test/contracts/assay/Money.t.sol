// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {Claim, LANE_EXECUTION, Request} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";
import {Reenterer, Refuser, ReturnBomb} from "../support/assay/Receivers.sol";

/// @notice Every row of PROTOCOL.md's table of exits, to the wei, and the ways out.
contract MoneyTest is AssayFixture {
    /// @dev Odd amounts, so that every rounding shows.
    function _oddRequest() private view returns (Request memory r) {
        r = _newRequest();
        r.minBond = 1_000_000_000_000_000_007;
    }

    function _books() private view returns (uint256 total) {
        total = assay.burned();
        address[6] memory accounts = [requester, prover, operator, alice, bob, stranger];
        for (uint256 i; i < accounts.length; i++) {
            total += assay.credits(accounts[i]);
        }
    }

    function test_finalize_paysProver_succeeds() public {
        Request memory r = _oddRequest();
        _file(r);
        Claim memory c = _claim(r, prover, _right());
        _challenge(c, alice);
        _challenge(c, bob);
        _commit(c);
        skip(WINDOW);
        assay.finalize(r, c);
        uint256 half = c.ticketBond / 2;
        assertEq(assay.credits(prover), c.bond + 2 * half + FEE);
        assertEq(assay.burned(), 2 * (c.ticketBond - half));
        assertEq(_books(), address(assay).balance);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotFallen.selector, _id(c), 2));
        assay.collect(c, alice);
    }

    function test_collect_equalShares_succeeds() public {
        Request memory r = _oddRequest();
        _file(r);
        Claim memory c = _claim(r, prover, _wrong());
        _challenge(c, alice);
        _challenge(c, bob);
        _challenge(c, stranger);
        _commit(c);
        vm.prank(alice);
        _convict(c);
        uint256 share = c.bond / 2 / 3;
        assertEq(assay.burned(), c.bond - 3 * share, "half and the remainder");
        vm.expectEmit(address(assay));
        emit IAssay.Collected(_id(c), alice, c.ticketBond + share);
        vm.prank(prover);
        assay.collect(c, alice);
        assay.collect(c, bob);
        assay.collect(c, stranger);
        assertEq(assay.credits(alice), c.ticketBond + share);
        assertEq(assay.credits(bob), assay.credits(alice), "who convicts gains nothing by it");
        assertEq(assay.credits(prover), 0);
        assertEq(_books() + FEE, address(assay).balance, "the fee waits with the request");
    }

    function test_collect_twice_reverts() public {
        (, Claim memory c) = _disputed();
        _convict(c);
        assay.collect(c, alice);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.AlreadyCollected.selector, _id(c), alice));
        assay.collect(c, alice);
    }

    function test_collect_withoutTicket_reverts() public {
        (, Claim memory c) = _disputed();
        _convict(c);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TicketMissing.selector, _id(c), prover));
        assay.collect(c, prover);
    }

    function test_collect_active_reverts() public {
        (, Claim memory c) = _disputed();
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ClaimNotFallen.selector, _id(c), 1));
        assay.collect(c, alice);
    }

    function test_settle_fallPaysTicketsAndSubmitter_succeeds() public {
        Request memory r = _oddRequest();
        _file(r);
        Claim memory c = _claim(r, prover, _wrong());
        _challenge(c, alice);
        _challenge(c, bob);
        _settleExecution(r, c, stranger, _right());
        uint256 share = c.bond / 2 / 3;
        assertEq(assay.credits(stranger), share + FEE);
        assay.collect(c, alice);
        assay.collect(c, bob);
        assertEq(assay.credits(alice), c.ticketBond + share);
        assertEq(assay.credits(bob), c.ticketBond + share);
        assertEq(assay.burned(), c.bond - 3 * share);
        assertEq(_books(), address(assay).balance);
    }

    function test_settle_fallWithoutTickets_succeeds() public {
        Request memory r = _oddRequest();
        _file(r);
        Claim memory c = _claim(r, prover, _wrong());
        _settleExecution(r, c, stranger, _right());
        assertEq(assay.credits(stranger), c.bond / 2 + FEE);
        assertEq(assay.burned(), c.bond - c.bond / 2);
        assertEq(_books(), address(assay).balance);
    }

    function test_settle_agreementPaysProver_succeeds() public {
        Request memory r = _oddRequest();
        _file(r);
        Claim memory c = _claim(r, prover, _right());
        _challenge(c, alice);
        _settleExecution(r, c, stranger, _right());
        assertEq(assay.credits(stranger), 0);
        assertEq(assay.credits(prover), c.bond + c.ticketBond / 2 + FEE);
        assertEq(_books(), address(assay).balance);
    }

    function test_settle_alonePaysSubmitter_succeeds() public {
        Request memory r = _oddRequest();
        _file(r);
        _settleExecution(r, _noClaim(), stranger, _right());
        assertEq(assay.credits(stranger), FEE);
        assertEq(_books(), address(assay).balance);
    }

    // withdraw and pullBurn

    function test_withdraw_toAnother_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW);
        assay.finalize(r, c);
        uint256 amount = assay.credits(prover);
        address to = makeAddr("cold wallet");
        vm.expectEmit(address(assay));
        emit IAssay.Withdrawn(prover, to, amount);
        vm.prank(prover);
        assay.withdraw(to);
        assertEq(to.balance, amount);
        assertEq(assay.credits(prover), 0);
        assertEq(address(assay).balance, 0);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoCredit.selector, prover));
        vm.prank(prover);
        assay.withdraw(to);
    }

    function test_withdraw_refused_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW);
        assay.finalize(r, c);
        uint256 amount = assay.credits(prover);
        address[2] memory bad = [address(0), address(new Refuser())];
        for (uint256 i; i < bad.length; i++) {
            vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TransferFailed.selector, bad[i], amount));
            vm.prank(prover);
            assay.withdraw(bad[i]);
            assertEq(assay.credits(prover), amount);
        }
        // A receiver that answers with a megabyte costs its caller only what it burns itself.
        address bomb = address(new ReturnBomb());
        vm.prank(prover);
        assay.withdraw(bomb);
        assertEq(bomb.balance, amount);
    }

    function test_withdraw_reentered_succeeds() public {
        Reenterer thief = new Reenterer(assay);
        Request memory r = _newRequest();
        _file(r);
        vm.deal(address(thief), 100 ether);
        Claim memory c = _claim(r, address(thief), _right());
        Request memory other = _newRequest();
        other.salt = 2;
        _file(other);
        skip(WINDOW);
        assay.finalize(r, c);
        uint256 before = address(thief).balance;
        thief.withdraw();
        assertEq(thief.attempts(), 1, "it tried");
        assertEq(thief.gains(), 0, "and got nothing");
        assertEq(address(thief).balance - before, uint256(c.bond) + FEE);
        assertEq(address(assay).balance, FEE, "the other request's fee");
    }

    function test_pullBurn_byAnybody_succeeds() public {
        (, Claim memory c) = _disputed();
        _convict(c);
        uint256 amount = assay.burned();
        vm.expectEmit(address(assay));
        emit IAssay.Burned(amount);
        vm.prank(stranger);
        assay.pullBurn();
        assertEq(address(0xdEaD).balance, amount);
        assertEq(assay.burned(), 0);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoCredit.selector, address(0xdEaD)));
        assay.pullBurn();
    }

    function test_receive_plainEther_reverts() public {
        vm.prank(stranger);
        (bool sent,) = address(assay).call{value: 1}("");
        assertFalse(sent);
        (sent,) = assay.courier().call{value: 1}("");
        assertFalse(sent);
    }

    function test_withdraw_afterForcedEther_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        vm.deal(address(assay), address(assay).balance + 3 ether);
        skip(WINDOW);
        assay.finalize(r, c);
        vm.prank(prover);
        assay.withdraw(prover);
        assertEq(address(assay).balance, 3 ether, "nobody's books know it");
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoCredit.selector, address(0xdEaD)));
        assay.pullBurn();
    }
}
