// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssay} from "../../../verifier-contracts/interfaces/IAssay.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {Terms} from "../../../verifier-contracts/libraries/Terms.sol";
import {
    Claim,
    ClaimId,
    LANE_BOND,
    ModelId,
    Request,
    RequestId
} from "../../../verifier-contracts/types/Types.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

contract ClaimTest is AssayFixture {
    uint256 private constant DEFENCE = (uint256(GAS_BASE) + DEPTH * uint256(GAS_PER_DEMAND)) * FLOOR;

    function _refused(Request memory r, address sender, bytes memory output, bytes memory why) private {
        (uint96 bond,) = assay.bondsOf(r, FLOOR);
        vm.expectRevert(why);
        vm.prank(sender);
        assay.claim{value: bond}(r, operator, FLOOR, output);
    }

    function test_claim_valid_succeeds() public {
        Request memory r = _newRequest();
        RequestId requestId = _file(r);
        Claim memory c = _claimOf(r, prover, _right());
        ClaimId id = assay.claimIdOf(c);
        assertEq(ClaimId.unwrap(id), keccak256(abi.encode(block.chainid, address(assay), c)));
        vm.expectEmit(address(assay));
        emit IAssay.Claimed(id, requestId, c, uint40(block.timestamp + WINDOW), _right());
        vm.prank(prover);
        assay.claim{value: c.bond}(r, operator, FLOOR, _right());
        assertEq(_requestState(r), 2);
        // windowEnd, ACTIVE, d, and nothing else
        assertEq(assay.claimWord(id), (block.timestamp + WINDOW) | uint256(1) << 224 | uint256(DEPTH) << 240);
    }

    function test_claim_outputWithExtraBytes_reverts() public {
        Request memory r = _newRequest();
        _file(r);
        bytes memory longer = bytes.concat(_right(), hex"00");
        bytes memory shorter = new bytes(63);
        bytes4 why = IAssayErrors.OutputLengthWrong.selector;
        _refused(r, prover, longer, abi.encodeWithSelector(why, 65, 64));
        _refused(r, prover, shorter, abi.encodeWithSelector(why, 63, 64));
    }

    function test_claim_busyOrUnknown_reverts() public {
        Request memory r = _newRequest();
        bytes4 why = IAssayErrors.RequestNotOpen.selector;
        _refused(r, prover, _right(), abi.encodeWithSelector(why, assay.requestIdOf(r), 0));
        _file(r);
        _claim(r, prover, _right());
        _refused(r, alice, _wrong(), abi.encodeWithSelector(why, assay.requestIdOf(r), 2));
    }

    function test_claim_expiry_reverts() public {
        Request memory r = _newRequest();
        _file(r);
        vm.warp(r.expiry + 1);
        _refused(
            r,
            prover,
            _right(),
            abi.encodeWithSelector(IAssayErrors.RequestExpired.selector, r.expiry + 1, r.expiry)
        );
        vm.warp(r.expiry);
        _claim(r, prover, _right());
    }

    function test_claim_withoutBondLane_reverts() public {
        Request memory r = _newRequest();
        r.lanes = 3;
        _file(r);
        _refused(
            r, prover, _right(), abi.encodeWithSelector(IAssayErrors.LaneNotAllowed.selector, LANE_BOND, 3)
        );
    }

    function test_claim_exclusive_reverts() public {
        Request memory r = _newRequest();
        r.exclusiveProver = prover;
        r.exclusiveUntil = uint40(block.timestamp + 600);
        _file(r);
        vm.warp(r.exclusiveUntil);
        _refused(
            r,
            stranger,
            _right(),
            abi.encodeWithSelector(
                IAssayErrors.NotExclusiveProver.selector, stranger, prover, uint256(r.exclusiveUntil)
            )
        );
        uint256 state = vm.snapshotState();
        _claim(r, prover, _right());
        vm.revertToState(state);
        vm.warp(r.exclusiveUntil + 1);
        _claim(r, stranger, _right());
    }

    function test_claim_exclusiveUntilWithoutProver_succeeds() public {
        Request memory r = _newRequest();
        r.exclusiveUntil = uint40(block.timestamp + 600);
        _file(r);
        _claim(r, stranger, _right());
    }

    function test_claim_bonds_succeeds() public view {
        Request memory r = _newRequest();
        (uint96 bond, uint96 ticketBond) = assay.bondsOf(r, FLOOR);
        assertEq(bond, 20 * DEFENCE);
        assertEq(ticketBond, 2 * DEFENCE);
        r.minBond = uint96(100 * DEFENCE);
        (bond, ticketBond) = assay.bondsOf(r, FLOOR);
        assertEq(bond, 100 * DEFENCE);
        assertEq(ticketBond, 10 * DEFENCE);
    }

    function test_bondsOf_unknownModel_reverts() public {
        Request memory r = _newRequest();
        r.modelId = ModelId.wrap(keccak256("unknown"));
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.UnknownModel.selector, r.modelId));
        assay.bondsOf(r, FLOOR);
    }

    /// @dev Above the least bond tickets grow with it, from the first wei that a tenth holds.
    function test_claim_bondAboveLeast_succeeds() public view {
        Request memory r = _newRequest();
        r.minBond = uint96(20 * DEFENCE + 10);
        (uint96 bond, uint96 ticketBond) = assay.bondsOf(r, FLOOR);
        assertEq(bond, 20 * DEFENCE + 10);
        assertEq(ticketBond, 2 * DEFENCE + 1);
    }

    /// @dev Bonds double with the first 32 falls.
    function test_claim_bondsAfterManyFalls_succeeds() public pure {
        for (uint256 attempt; attempt < 40; ++attempt) {
            (uint256 bond, uint256 ticketBond) = Terms.bonds(3, 0, attempt);
            assertEq(bond, 60 << (attempt < 32 ? attempt : 32));
            assertEq(ticketBond, bond / 10);
        }
    }

    /// @dev Squatting a request costs twice as much each time.
    function test_claim_afterFalls_succeeds() public {
        Request memory r = _newRequest();
        _file(r);
        for (uint256 i; i < 5; i++) {
            Claim memory c = _claim(r, stranger, _wrong());
            assertEq(c.bond, 20 * DEFENCE << i);
            assertEq(c.ticketBond, 2 * DEFENCE << i);
            assertEq(c.attempt, i);
            _challenge(c, alice);
            skip(T + 1);
            assay.timeoutTrace(c);
        }
        assertEq(assay.credits(stranger), 0);
        _claim(r, prover, _right());
    }

    function testFuzz_claim_wrongValue_reverts(uint256 value) public {
        Request memory r = _newRequest();
        _file(r);
        (uint96 bond,) = assay.bondsOf(r, FLOOR);
        value = bound(value, 0, 900 ether);
        vm.assume(value != bond);
        vm.expectRevert(abi.encodeWithSelector(IAssayErrors.ValueWrong.selector, value, uint256(bond)));
        vm.prank(prover);
        assay.claim{value: value}(r, operator, FLOOR, _right());
    }

    function test_claim_bondAbove96Bits_reverts() public {
        Request memory r = _newRequest();
        r.minBond = type(uint96).max;
        _file(r);
        Claim memory c = _claimOf(r, prover, _right());
        vm.deal(prover, type(uint128).max);
        vm.prank(prover);
        assay.claim{value: c.bond}(r, operator, FLOOR, _right());
        vm.deal(alice, type(uint128).max);
        _challenge(c, alice);
        skip(T + 1);
        assay.timeoutTrace(c);
        bytes memory why = abi.encodeWithSelector(
            IAssayErrors.BondTooLarge.selector, uint256(type(uint96).max) * 2, uint256(type(uint96).max)
        );
        vm.expectRevert(why);
        assay.bondsOf(r, FLOOR);
        vm.expectRevert(why);
        vm.prank(prover);
        assay.claim{value: c.bond}(r, operator, FLOOR, _right());
        // The request is not stuck.
        vm.warp(r.expiry + 1);
        assay.refund(r);
        assertEq(assay.credits(requester), FEE);
    }

    function testFuzz_claim_gasPriceBounds_succeeds(uint64 baseFee, uint64 gasPrice) public {
        baseFee = uint64(bound(baseFee, 0, 1_000 gwei));
        vm.fee(baseFee);
        Request memory r = _newRequest();
        _file(r);
        uint256 going = 5 * uint256(baseFee);
        if (going < FLOOR) going = FLOOR;
        gasPrice = uint64(bound(gasPrice, going / 2, 3 * going));
        (uint96 bond,) = assay.bondsOf(r, gasPrice);
        if (gasPrice < going || gasPrice > 2 * going) {
            vm.expectRevert(
                abi.encodeWithSelector(IAssayErrors.GasPriceOutOfRange.selector, gasPrice, going, 2 * going)
            );
        }
        vm.prank(prover);
        assay.claim{value: bond}(r, operator, gasPrice, _right());
    }

    function test_claim_gasPriceAtLimits_succeeds() public {
        vm.fee(3 gwei);
        Request memory r = _newRequest();
        _file(r);
        uint64[4] memory prices = [uint64(15 gwei) - 1, 30 gwei + 1, 15 gwei, 30 gwei];
        for (uint256 i; i < prices.length; i++) {
            uint256 state = vm.snapshotState();
            (uint96 bond,) = assay.bondsOf(r, prices[i]);
            if (i < 2) {
                vm.expectRevert(
                    abi.encodeWithSelector(
                        IAssayErrors.GasPriceOutOfRange.selector, prices[i], 15 gwei, 30 gwei
                    )
                );
            }
            vm.prank(prover);
            assay.claim{value: bond}(r, operator, prices[i], _right());
            vm.revertToState(state);
        }
    }
}
