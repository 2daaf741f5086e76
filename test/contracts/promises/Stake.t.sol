// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IPromisesErrors} from "../../../verifier-contracts/interfaces/IPromisesErrors.sol";
import {SignedClaim} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {PromisesFixture} from "./PromisesFixture.sol";

/// @notice Stake, keys and what is paid out.
contract StakeTest is PromisesFixture {
    string private constant TEXT = "shares rise";

    function test_deposit_byAnybody_succeeds() public {
        vm.prank(alice);
        promises.deposit{value: 2 ether}(prover);
        _assertStake(12 ether, 0, 0, 0);
    }

    function test_deposit_beyond96Bits_reverts() public {
        uint256 amount = 2 ** 96;
        vm.deal(alice, amount);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.AmountTooLarge.selector, amount, amount - 1));
        vm.prank(alice);
        promises.deposit{value: amount}(prover);
    }

    function test_announceExit_default_succeeds() public {
        vm.prank(prover);
        promises.announceExit(4 ether);
        _assertStake(6 ether, 4 ether, 0, 0);
        assertEq(_account().exitAt, block.timestamp + 8 days);
    }

    function test_announceExit_again_succeeds() public {
        vm.startPrank(prover);
        promises.announceExit(4 ether);
        skip(8 days);
        promises.announceExit(0);
        vm.stopPrank();
        assertEq(_account().exitAt, block.timestamp + 8 days);
    }

    function test_announceExit_aboveFree_reverts() public {
        vm.prank(prover);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.ExitTooLarge.selector, 10 ether + 1, 10 ether));
        promises.announceExit(10 ether + 1);
    }

    function test_exit_default_succeeds() public {
        vm.startPrank(prover);
        promises.announceExit(4 ether);
        skip(8 days);
        promises.exit(bob);
        vm.stopPrank();
        assertEq(bob.balance, 1_004 ether);
        _assertStake(6 ether, 0, 0, 0);
    }

    function test_exit_early_reverts() public {
        vm.startPrank(prover);
        promises.announceExit(4 ether);
        uint256 exitAt = block.timestamp + 8 days;
        skip(8 days - 1);
        vm.expectRevert(
            abi.encodeWithSelector(IPromisesErrors.ExitTooEarly.selector, block.timestamp, exitAt)
        );
        promises.exit(bob);
    }

    /// @dev Weak point (c): no stake leaves while a promise waits.
    function test_exit_queueNotEmpty_reverts() public {
        vm.prank(prover);
        promises.announceExit(4 ether);
        skip(8 days);
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.minBond = 10 ether;
        _open(s, TEXT, _right(TEXT), alice);
        s.salt = 1;
        _open(s, TEXT, _right(TEXT), alice);
        bytes32 head = leaves.digestOf(s);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.QueueNotEmpty.selector, prover, head));
        vm.prank(prover);
        promises.exit(prover);
    }

    function test_exit_toRefusing_reverts() public {
        vm.startPrank(prover);
        promises.announceExit(4 ether);
        skip(8 days);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TransferFailed.selector, address(assay), 4 ether));
        promises.exit(address(assay));
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.TransferFailed.selector, address(0), 4 ether));
        promises.exit(address(0));
    }

    function test_setSigner_notice_reverts() public {
        uint40 until = uint40(block.timestamp + T - 1);
        vm.expectRevert(
            abi.encodeWithSelector(IPromisesErrors.SignerNoticeTooShort.selector, until, until + 1)
        );
        promises.setSigner(bob, until);
        promises.setSigner(bob, until + 1);
        assertEq(promises.boundUntil(address(this), bob), until + 1);
    }

    function test_setSigner_zero_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.SignerIsZero.selector));
        promises.setSigner(address(0), type(uint40).max);
    }

    /// @dev A key binds what it signed before it was registered.
    function test_setSigner_before_succeeds() public {
        (address late, uint256 key) = makeAddrAndKey("late");
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        bytes memory signature = _signBy(key, s);
        skip(1);
        vm.prank(prover);
        promises.setSigner(late, uint40(block.timestamp + T));
        promises.open{value: 1 ether}(s, signature, _input(TEXT), _right(TEXT));
        _assertStake(9 ether, 0, 1 ether, 0);
    }

    function test_receive_stranger_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.NotAssay.selector, alice));
        vm.prank(alice);
        (bool sent,) = address(promises).call{value: 1}("");
        assertTrue(sent);
    }

    function test_withdraw_noCredit_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoCredit.selector, alice));
        vm.prank(alice);
        promises.withdraw(alice);
    }

    function test_withdraw_credit_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        (bytes memory signature, bytes memory output) = (_sign(s), _right(TEXT));
        vm.startPrank(alice);
        promises.open{value: 1 ether}(s, signature, _input(TEXT), output);
        promises.withdraw(bob);
        assertEq(bob.balance, 1_000.9 ether);
        assertEq(promises.credits(alice), 0);
    }

    function test_pullBurn_nothing_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NoCredit.selector, address(0xdEaD)));
        promises.pullBurn();
    }

    function test_pullBurn_default_succeeds() public {
        _stood(_open(_promise(TEXT, _right(TEXT)), TEXT, _right(TEXT), alice));
        assertEq(promises.burned(), MIN_BOND / 20);
        promises.pullBurn();
        assertEq(promises.burned(), 0);
        assertEq(address(0xdEaD).balance, MIN_BOND / 20);
    }
}
