// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IPromises} from "../../../verifier-contracts/interfaces/IPromises.sol";
import {IPromisesErrors} from "../../../verifier-contracts/interfaces/IPromisesErrors.sol";
import {PromiseStatus, SignedClaim} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {Claim, LANE_EXECUTION} from "../../../verifier-contracts/types/Types.sol";
import {PromisesFixture} from "./PromisesFixture.sol";

/// @notice The ends of a promise's claim, what they pay, and the trace on the way.
contract CloseTest is PromisesFixture {
    string private constant TEXT = "shares rise";
    uint256 private constant D = MIN_BOND / 10;

    function _opened(bytes memory output) private returns (Filed memory) {
        return _open(_promise(TEXT, output), TEXT, output, alice);
    }

    function _settle(Filed memory f) private {
        bytes memory output = _right(TEXT);
        vm.prank(bob);
        assay.settle(f.r, f.c, LANE_EXECUTION, _input(TEXT), output, "");
    }

    function _notOpen(Filed memory f) private {
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.NotOpen.selector, _id(f)));
        promises.close(f.r, f.c);
    }

    function test_close_final_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        Filed memory f = _open(s, TEXT, _right(TEXT), alice);
        skip(f.r.window);
        vm.expectEmit(address(promises));
        emit IPromises.Closed(_id(f), leaves.digestOf(s), false);
        promises.close(f.r, f.c);
        _assertStake(10 ether + D / 2, 0, 0, 0);
        assertEq(promises.burned(), D / 2);
        assertEq(promises.credits(alice), 0);
        assertTrue(_status(s) == PromiseStatus.CLOSED);
        // What is booked is here.
        assertEq(assay.credits(address(promises)), 0);
        assertEq(address(promises).balance, 10 ether + D);
        _notOpen(f);
    }

    /// @dev Half of an odd deposit: the odd wei burns.
    function test_close_oddDeposit_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.minBond = 1 ether + 10;
        _stood(_open(s, TEXT, _right(TEXT), alice));
        assertEq((s.minBond / 10) % 2, 1);
        assertEq(promises.burned(), s.minBond / 20 + 1);
        _assertStake(10 ether + s.minBond / 20, 0, 0, 0);
    }

    function test_close_finalWithTickets_succeeds() public {
        Filed memory f = _opened(_right(TEXT));
        _challenge(f, alice);
        _challenge(f, bob);
        vm.prank(signer);
        promises.commitTrace(f.c, _trace());
        skip(f.r.window);
        promises.close(f.r, f.c);
        _assertStake(10 ether + D / 2 + 2 * (D / 2), 0, 0, 0);
    }

    /// @dev One hash, as the trace of one step is; what it is the root of does not matter here.
    function _trace() private pure returns (bytes32[] memory tops) {
        tops = new bytes32[](1);
        tops[0] = keccak256("trace");
    }

    function test_close_finalizedBefore_succeeds() public {
        Filed memory f = _opened(_right(TEXT));
        skip(f.r.window);
        assay.finalize(f.r, f.c);
        assertEq(assay.credits(address(promises)), 1 ether);
        promises.close(f.r, f.c);
        _assertStake(10 ether + D / 2, 0, 0, 0);
        assertEq(assay.credits(address(promises)), 0);
    }

    /// @dev Both claims' money comes with the first that is closed; the second finds nothing to take, and closes.
    function test_close_pulledBefore_succeeds() public {
        Filed memory f = _opened(_right(TEXT));
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.salt = 1;
        Filed memory g = _open(s, TEXT, _right(TEXT), bob);
        skip(f.r.window);
        assay.finalize(f.r, f.c);
        promises.close(g.r, g.c);
        assertEq(assay.credits(address(promises)), 0);
        promises.close(f.r, f.c);
        _assertStake(10 ether + 2 * (D / 2), 0, 0, 0);
    }

    function test_close_fallen_succeeds() public {
        Filed memory f = _opened(_wrong());
        _fell(f);
        promises.close(f.r, f.c);
        _assertStake(9 ether, 0, 0, 0);
        assertEq(promises.credits(alice), D);
        assertEq(promises.burned(), 0);
        assertEq(assay.credits(address(promises)), 0);
        _notOpen(f);
    }

    function test_close_settledRight_succeeds() public {
        Filed memory f = _opened(_right(TEXT));
        _challenge(f, bob);
        _settle(f);
        promises.close(f.r, f.c);
        _assertStake(10 ether + D / 2 + D / 2, 0, 0, 0);
    }

    function test_close_settledWrong_succeeds() public {
        Filed memory f = _opened(_wrong());
        _settle(f);
        promises.close(f.r, f.c);
        _assertStake(9 ether, 0, 0, 0);
        assertEq(promises.credits(alice), D);
        assertEq(assay.credits(bob), 0.5 ether);
    }

    function test_close_notFinal_reverts() public {
        Filed memory f = _opened(_right(TEXT));
        skip(f.r.window - 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.ClaimNotFinal.selector, _id(f), uint8(1), block.timestamp + 1, 0
            )
        );
        promises.close(f.r, f.c);
    }

    function test_close_otherClaim_reverts() public {
        Filed memory f = _opened(_right(TEXT));
        skip(f.r.window);
        f.c.bond += 1;
        _notOpen(f);
    }

    function test_close_otherRequest_reverts() public {
        Filed memory f = _opened(_right(TEXT));
        skip(f.r.window);
        f.r.window += 1;
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.WrongClaim.selector, f.c.requestId, assay.requestIdOf(f.r))
        );
        promises.close(f.r, f.c);
    }

    /// @dev After a fall the request has expired, and its refund is nothing.
    function test_claim_afterFall_reverts() public {
        Filed memory f = _opened(_wrong());
        _fell(f);
        bytes memory output = _right(TEXT);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.RequestExpired.selector, block.timestamp, uint256(f.r.expiry))
        );
        assay.claim{value: 2 ether}(f.r, address(0), FLOOR, output);
        assay.refund(f.r);
        assertEq(assay.credits(address(promises)), 0);
        promises.close(f.r, f.c);
        _assertStake(9 ether, 0, 0, 0);
    }

    /// @dev A claim that falls within two seconds can be followed by a stranger's: none of it is Promises'.
    function test_claim_sameSecond_succeeds() public {
        Filed memory f = _opened(_wrong());
        _challenge(f, bob);
        _convict(f, TEXT, _wrong());
        bytes memory output = _right(TEXT);
        vm.prank(bob);
        assay.claim{value: 2 ether}(f.r, address(0), FLOOR, output);
        promises.close(f.r, f.c);
        _assertStake(9 ether, 0, 0, 0);
        assertEq(promises.credits(alice), D);
        skip(f.r.window);
        assertEq(assay.credits(address(promises)), 0);
    }

    function test_commitTrace_byProver_succeeds() public {
        Filed memory f = _opened(_right(TEXT));
        _challenge(f, bob);
        vm.prank(prover);
        promises.commitTrace(f.c, _trace());
        assertEq(assay.traceRootOf(_id(f)), _trace()[0]);
    }

    function test_commitTrace_stranger_reverts() public {
        Filed memory f = _opened(_right(TEXT));
        _challenge(f, bob);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotProver.selector, bob, prover, address(0)));
        vm.prank(bob);
        promises.commitTrace(f.c, _trace());
    }

    /// @dev A trace is taken from keys that bind now, also in the last second, and from none in Assay itself.
    function test_commitTrace_unboundKey_reverts() public {
        Filed memory f = _opened(_right(TEXT));
        vm.prank(prover);
        promises.setSigner(signer, uint40(block.timestamp + T));
        _challenge(f, bob);
        skip(T);
        vm.expectRevert(
            abi.encodeWithSelector(IAssayErrors.NotProver.selector, signer, address(promises), prover)
        );
        vm.prank(signer);
        assay.commitTrace(f.c, _trace());
        vm.prank(signer);
        promises.commitTrace(f.c, _trace());
        Filed memory g = _open(_other(), TEXT, _right(TEXT), alice);
        _challenge(g, bob);
        skip(1);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotProver.selector, signer, prover, address(0)));
        vm.prank(signer);
        promises.commitTrace(g.c, _trace());
    }

    function _other() private view returns (SignedClaim memory s) {
        s = _promise(TEXT, _right(TEXT));
        s.salt = 1;
    }

    function test_commitTrace_notOpen_reverts() public {
        Filed memory f = _opened(_right(TEXT));
        Claim memory c = f.c;
        c.bond += 1;
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.NotOpen.selector, assay.claimIdOf(c)));
        vm.prank(prover);
        promises.commitTrace(c, _trace());
    }

    function test_commitTrace_refusedByAssay_reverts() public {
        Filed memory f = _opened(_right(TEXT));
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotChallenged.selector, _id(f)));
        vm.prank(prover);
        promises.commitTrace(f.c, _trace());
    }
}
