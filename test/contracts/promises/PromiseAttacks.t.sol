// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IPromisesErrors} from "../../../verifier-contracts/interfaces/IPromisesErrors.sol";
import {Batch, BatchId, PromiseStatus, SignedClaim} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {Policy} from "../../../verifier-contracts/types/Types.sol";
import {BatchFixture} from "./BatchFixture.sol";

/// @notice Attacks that are not about one condition.
contract PromiseAttacksTest is BatchFixture {
    string private constant TEXT = "shares rise";

    /// @dev A right and a wrong promise of the same input and salt, opened in one block, are two claims: neither takes
    /// the other's place.
    function test_open_sameInputAndSalt_succeeds() public {
        SignedClaim memory right = _promise(TEXT, _right(TEXT));
        SignedClaim memory wrong = _promise(TEXT, _wrong());
        Filed memory f = _open(right, TEXT, _right(TEXT), prover);
        Filed memory g = _open(wrong, TEXT, _wrong(), alice);
        _fell(g);
        promises.close(g.r, g.c);
        _stood(f);
        assertTrue(_status(wrong) == PromiseStatus.CLOSED);
        _assertStake(9 ether + MIN_BOND / 20, 0, 0, 0);
    }

    /// @dev Ether that is forced upon the contract, and that Assay is made to send to others, changes no sum.
    function test_close_forcedEther_succeeds() public {
        Filed memory f = _open(_promise(TEXT, _right(TEXT)), TEXT, _right(TEXT), alice);
        vm.deal(address(promises), address(promises).balance + 5 ether);
        _stood(f);
        _assertStake(10 ether + MIN_BOND / 20, 0, 0, 0);
        assertEq(promises.credits(alice), 0);
    }

    /// @dev What is signed for a chain is nothing on its fork, and a batch of before is not final there.
    function test_open_fork_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        (bytes memory signature, bytes memory output) = (_sign(s), _right(TEXT));
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        bytes32[] memory path = _path(payloads, 0);
        Policy memory p = _policy(_input(_text(0)));
        skip(W0);
        vm.chainId(block.chainid + 1);
        vm.expectPartialRevert(IPromisesErrors.SignerNotBound.selector);
        promises.open{value: 1 ether}(s, signature, _input(TEXT), output);
        BatchId id = leaves.batchIdOf(batch);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.UnknownBatch.selector, id));
        leaves.requireFinalLeaf(batch, 0, payloads[0], path, p);
    }

    /// @dev A signature for one Promises is nothing to another.
    function test_open_otherContract_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        (bytes memory signature, bytes memory output) = (_sign(s), _right(TEXT));
        promises = deployPromises();
        vm.prank(prover);
        promises.setSigner(signer, type(uint40).max);
        vm.expectPartialRevert(IPromisesErrors.SignerNotBound.selector);
        promises.open{value: 1 ether}(s, signature, _input(TEXT), output);
    }

    /// @dev A postdated promise binds nobody before its time, and not at all if its key was unbound meanwhile; bound
    /// again, it binds what it signed.
    function test_open_postdated_reverts() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        s.issuedAt += 2 * T;
        (bytes memory signature, bytes memory output) = (_sign(s), _right(TEXT));
        uint40 until = uint40(block.timestamp + T);
        vm.prank(prover);
        promises.setSigner(signer, until);
        skip(2 * T);
        vm.expectRevert(
            abi.encodeWithSelector(IPromisesErrors.SignerNotBound.selector, signer, prover, until, s.issuedAt)
        );
        promises.open{value: 1 ether}(s, signature, _input(TEXT), output);
        vm.prank(prover);
        promises.setSigner(signer, uint40(block.timestamp + T));
        promises.open{value: 1 ether}(s, signature, _input(TEXT), output);
    }

    /// @dev Whoever holds a promise of now can have it read, whatever the prover does to its key at once.
    function test_open_unboundAtOnce_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _right(TEXT));
        vm.prank(prover);
        promises.setSigner(signer, uint40(block.timestamp + T));
        skip(1 hours);
        _open(s, TEXT, _right(TEXT), alice);
        assertTrue(_status(s) == PromiseStatus.OPEN);
    }

    /// @dev Opening all leaves of a right batch costs the openers, and brings the prover half of it.
    function test_openLeaf_all_succeeds() public {
        (Batch memory batch, bytes[] memory payloads) = _posted(COUNT);
        Filed[] memory claims = new Filed[](COUNT);
        for (uint256 i; i < COUNT; i++) {
            claims[i] = _openLeaf(batch, payloads, i, alice);
        }
        skip(W0);
        for (uint256 i; i < COUNT; i++) {
            promises.close(claims[i].r, claims[i].c);
        }
        promises.release(batch);
        // Deposits of 1, 1, 2, 2 and 3 times D.
        _assertStake(10 ether + 9 * D / 2, 0, 0, 0);
        assertTrue(leaves.isBatchFinal(_idOf(batch)));
    }

    /// @dev A prover that is bound to answer in one block with a deposit and a bond: all of its stake, to the wei.
    function test_open_allStake_succeeds() public {
        SignedClaim memory s = _promise(TEXT, _wrong());
        s.minBond = type(uint96).max;
        Filed memory f = _open(s, TEXT, _wrong(), alice);
        _assertStake(0, 0, 10 ether, 0);
        _fell(f);
        promises.close(f.r, f.c);
        _assertStake(0, 0, 0, 0);
        assertEq(promises.credits(alice), 1 ether);
        assertEq(address(promises).balance, 1 ether);
    }
}
