// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {
    Claim,
    LANE_BOND,
    LANE_EXECUTION,
    ModelId,
    Policy,
    Request
} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

contract RequireFinalTest is AssayFixture {
    function _refused(
        Request memory r,
        Claim memory c,
        bytes memory output,
        Policy memory p,
        bytes memory why
    ) private {
        vm.expectRevert(why);
        assay.requireFinal(r, c, output, p);
    }

    /// @dev Final is a fact of the clock: nobody has to book it.
    function test_requireFinal_unbooked_succeeds() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        uint256 end = block.timestamp + WINDOW;
        vm.warp(end - 1);
        bytes4 why = IAssayErrors.ClaimNotFinal.selector;
        _refused(r, c, _right(), _policy(r), abi.encodeWithSelector(why, _id(c), 1, end, 0));
        vm.warp(end);
        assay.requireFinal(r, c, _right(), _policy(r));
        assay.finalize(r, c);
        assay.requireFinal(r, c, _right(), _policy(r));
    }

    function test_requireFinal_owed_reverts() public {
        (Request memory r, Claim memory c) = _disputed();
        _demand(c, alice, 1);
        skip(WINDOW + L);
        bytes4 why = IAssayErrors.ClaimNotFinal.selector;
        uint256 finalAt = _field(c, 0, 40);
        _refused(r, c, _wrong(), _policy(r), abi.encodeWithSelector(why, _id(c), 1, finalAt, 1));
    }

    function test_requireFinal_notAsked_reverts() public {
        Request memory r = _newRequest();
        bytes4 why = IAssayErrors.RequestNotDone.selector;
        _refused(r, _noClaim(), _right(), _policy(r), abi.encodeWithSelector(why, assay.requestIdOf(r), 0));
        _file(r);
        _refused(r, _noClaim(), _right(), _policy(r), abi.encodeWithSelector(why, assay.requestIdOf(r), 1));
        vm.warp(r.expiry + 1);
        assay.refund(r);
        _refused(r, _noClaim(), _right(), _policy(r), abi.encodeWithSelector(why, assay.requestIdOf(r), 4));
    }

    function test_requireFinal_fallenClaim_reverts() public {
        (Request memory r, Claim memory c) = _disputed();
        _convict(c);
        _refused(
            r,
            c,
            _wrong(),
            _policy(r),
            abi.encodeWithSelector(IAssayErrors.RequestNotDone.selector, c.requestId, 1)
        );
        Claim memory next = _claim(r, prover, _right());
        skip(WINDOW);
        assay.requireFinal(r, next, _right(), _policy(r));
        _refused(
            r,
            c,
            _wrong(),
            _policy(r),
            abi.encodeWithSelector(IAssayErrors.ClaimNotFinal.selector, _id(c), 3, _field(c, 0, 40), 0)
        );
    }

    function test_requireFinal_truth_succeeds() public {
        Request memory r = _newRequest();
        _file(r);
        Claim memory c = _claim(r, prover, _wrong());
        _settleExecution(r, c, stranger, _right());
        Policy memory p = _policy(r);
        p.minBond = type(uint96).max;
        p.minWindow = type(uint32).max;
        p.lanes = LANE_EXECUTION;
        // Truth needs no bond and no window. The claim does not matter, and its output is refused.
        assay.requireFinal(r, _noClaim(), _right(), p);
        assay.requireFinal(r, c, _right(), p);
        _refused(
            r,
            c,
            _wrong(),
            p,
            abi.encodeWithSelector(
                IAssayErrors.OutputMismatch.selector, keccak256(_wrong()), keccak256(_right())
            )
        );
    }

    function test_requireFinal_policy_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW);
        Policy memory p = _policy(r);
        p.modelId = ModelId.wrap(keccak256("other"));
        _refused(
            r, c, _right(), p, abi.encodeWithSelector(IAssayErrors.WrongModel.selector, MODEL, p.modelId)
        );
        p = _policy(r);
        p.inputHash = keccak256("other");
        _refused(
            r,
            c,
            _right(),
            p,
            abi.encodeWithSelector(IAssayErrors.InputHashMismatch.selector, r.inputHash, p.inputHash)
        );
        p = _policy(r);
        p.lanes = 3;
        _refused(
            r, c, _right(), p, abi.encodeWithSelector(IAssayErrors.LaneNotAllowed.selector, LANE_BOND, 3)
        );
        p = _policy(r);
        p.minBond = c.bond + 1;
        _refused(
            r, c, _right(), p, abi.encodeWithSelector(IAssayErrors.BondTooSmall.selector, c.bond, c.bond + 1)
        );
        p.minBond = c.bond;
        p.minWindow = WINDOW + 1;
        _refused(
            r,
            c,
            _right(),
            p,
            abi.encodeWithSelector(IAssayErrors.WindowTooShort.selector, WINDOW, WINDOW + 1)
        );
        p.minWindow = WINDOW;
        assay.requireFinal(r, c, _right(), p);
    }

    function test_requireFinal_otherOutput_reverts() public {
        (Request memory r, Claim memory c) = _filedAndClaimed(_right());
        skip(WINDOW);
        bytes4 why = IAssayErrors.OutputMismatch.selector;
        _refused(r, c, _wrong(), _policy(r), abi.encodeWithSelector(why, keccak256(_wrong()), c.outputHash));
        bytes memory longer = bytes.concat(_right(), hex"00");
        _refused(r, c, longer, _policy(r), abi.encodeWithSelector(why, keccak256(longer), c.outputHash));
    }

    /// @dev A cheap request of the attacker's own, answered by himself, proves nothing about another's.
    function test_requireFinal_otherRequestsClaim_reverts() public {
        (Request memory r,) = _filedAndClaimed(_right());
        Request memory own = _newRequest();
        own.requester = stranger;
        _file(own);
        Claim memory c = _claim(own, stranger, _wrong());
        skip(WINDOW);
        _refused(
            r,
            c,
            _wrong(),
            _policy(r),
            abi.encodeWithSelector(IAssayErrors.WrongClaim.selector, c.requestId, assay.requestIdOf(r))
        );
    }
}
