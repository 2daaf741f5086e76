// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IPromises} from "../../../verifier-contracts/interfaces/IPromises.sol";
import {IPromisesErrors} from "../../../verifier-contracts/interfaces/IPromisesErrors.sol";
import {PromiseStatus, SignedClaim} from "../../../verifier-contracts/types/PromiseTypes.sol";
import {ModelId} from "../../../verifier-contracts/types/Types.sol";
import {ProgramBuilder as B} from "../registry/ProgramBuilder.sol";
import {PromisesFixture} from "./PromisesFixture.sol";

/// @notice Signed claims that wait for stake.
contract QueueTest is PromisesFixture {
    using B for B.Draft;

    string private constant TEXT = "shares rise";
    bytes private _output;

    function setUp() public override {
        super.setUp();
        _output = _right(TEXT);
    }

    /// @dev All of the stake is away, and `count` promises wait.
    function _waiting(uint256 count) private returns (Filed memory first, SignedClaim[] memory waiting) {
        SignedClaim memory s = _promise(TEXT, _output);
        s.minBond = 10 ether;
        first = _open(s, TEXT, _output, alice);
        waiting = new SignedClaim[](count);
        for (uint256 i; i < count; i++) {
            waiting[i] = _nth(i);
            _open(waiting[i], TEXT, _output, alice);
        }
    }

    function _nth(uint256 i) private view returns (SignedClaim memory s) {
        s = _promise(TEXT, _output);
        s.salt = uint64(i + 1);
    }

    /// @dev A promise waits, all stake is home, and at this base fee it does not reach.
    function _hot(uint256 count) private returns (SignedClaim[] memory waiting) {
        Filed memory f;
        (f, waiting) = _waiting(count);
        _stood(f);
        vm.fee(1_000 gwei);
        assertGt(_least(5_000 gwei), _account().free);
    }

    /// @dev A promise about a model with a deeper trace, hence a higher bond.
    function _deeper() private returns (SignedClaim memory s, bytes memory input, bytes memory output) {
        B.Draft memory draft = B.start(4, 8192, 3);
        draft.step(0x010400, B.dims1(8192), B.NONE, B.NONE, B.NONE, 0);
        s = _nth(77);
        s.modelId = registry.register(chunksOf(draft.bytesOf()), 0, SELECTOR, BOND, 0);
        input = abi.encodeWithSelector(SELECTOR, new bytes(8192));
        output = abi.encode(new bytes(8192));
        (s.inputHash, s.outputHash) = (keccak256(input), keccak256(output));
    }

    function test_openNext_default_succeeds() public {
        (Filed memory first, SignedClaim[] memory waiting) = _waiting(2);
        _stood(first);
        Filed memory f = _openNext(waiting[0], TEXT, _output);
        // Opened late, its window is W0 alone.
        assertEq(f.r.window, W0);
        assertEq(_account().head, leaves.digestOf(waiting[1]));
        _openNext(waiting[1], TEXT, _output);
        assertEq(_account().head, 0);
        assertEq(_account().tail, 0);
    }

    /// @dev Weak point (c): opened before its end, a promise's claim can be disputed past that end.
    function test_openNext_windowPastEnd_succeeds() public {
        (, SignedClaim[] memory waiting) = _waiting(1);
        skip(10);
        promises.deposit{value: 1 ether}(prover);
        Filed memory f = _openNext(waiting[0], TEXT, _output);
        assertEq(f.r.window, 1 hours - 10 + W0);
    }

    function test_openNext_notHead_reverts() public {
        (Filed memory first, SignedClaim[] memory waiting) = _waiting(2);
        _stood(first);
        vm.expectRevert(
            abi.encodeWithSelector(
                IPromisesErrors.NotHead.selector, leaves.digestOf(waiting[1]), leaves.digestOf(waiting[0])
            )
        );
        promises.openNext(waiting[1], _input(TEXT), _output);
        SignedClaim memory never = _nth(7);
        vm.expectRevert(
            abi.encodeWithSelector(
                IPromisesErrors.NotHead.selector, leaves.digestOf(never), leaves.digestOf(waiting[0])
            )
        );
        promises.openNext(never, _input(TEXT), _output);
    }

    function test_openNext_emptyQueue_reverts() public {
        SignedClaim memory s = _promise(TEXT, _output);
        vm.expectRevert(
            abi.encodeWithSelector(IPromisesErrors.NotHead.selector, leaves.digestOf(s), bytes32(0))
        );
        promises.openNext(s, _input(TEXT), _output);
    }

    function test_openNext_stake_reverts() public {
        (, SignedClaim[] memory waiting) = _waiting(1);
        promises.deposit{value: 1 ether - 1}(prover);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.StakeTooLow.selector, 1 ether - 1, 1 ether));
        promises.openNext(waiting[0], _input(TEXT), _output);
        promises.deposit{value: 1}(prover);
        _openNext(waiting[0], TEXT, _output);
    }

    function test_openNext_content_reverts() public {
        (Filed memory first, SignedClaim[] memory waiting) = _waiting(1);
        _stood(first);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.InputHashMismatch.selector, keccak256(_input("x")), waiting[0].inputHash
            )
        );
        promises.openNext(waiting[0], _input("x"), _output);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAssayErrors.OutputMismatch.selector, keccak256(_wrong()), waiting[0].outputHash
            )
        );
        promises.openNext(waiting[0], _input(TEXT), _wrong());
    }

    /// @dev Jumping a queue: nobody's promise is opened past those that wait, however small its bond.
    function test_open_behindQueue_succeeds() public {
        (, SignedClaim[] memory waiting) = _waiting(1);
        promises.deposit{value: 0.5 ether}(prover);
        SignedClaim memory small = _nth(3);
        small.minBond = 0;
        _open(small, TEXT, _output, bob);
        assertTrue(_status(small) == PromiseStatus.QUEUED);
        assertEq(_account().head, leaves.digestOf(waiting[0]));
        assertEq(_account().tail, leaves.digestOf(small));
    }

    function test_passNext_emptyQueue_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.QueueEmpty.selector, prover));
        promises.passNext(prover, 0);
    }

    function test_passNext_stakeAway_reverts() public {
        _waiting(1);
        vm.fee(1_000 gwei);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.StakeNotHome.selector, 10 ether, 0));
        promises.passNext(prover, 0);
    }

    function test_passNext_slots_reverts() public {
        bytes[] memory payloads = _leavesOf(1, 1);
        _post(payloads, 1 ether);
        SignedClaim memory s = _promise(TEXT, _output);
        s.minBond = 20 ether;
        _open(s, TEXT, _output, alice);
        vm.fee(1_000 gwei);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.StakeNotHome.selector, 0, 2 ether));
        promises.passNext(prover, 0);
    }

    function test_passNext_affordable_reverts() public {
        _hot(1);
        vm.fee(0);
        vm.expectRevert(
            abi.encodeWithSelector(
                IPromisesErrors.HeadAffordable.selector, _least(FLOOR), uint256(_account().free)
            )
        );
        promises.passNext(prover, 0);
    }

    function test_passNext_patience_succeeds() public {
        vm.fee(0);
        (SignedClaim memory deep, bytes memory input, bytes memory output) = _deeper();
        uint256 gasDeep = 1_500 gwei;
        SignedClaim memory first = _promise(TEXT, _output);
        first.minBond = 10 ether;
        Filed memory f = _open(first, TEXT, _output, alice);
        bytes memory signature = _sign(deep);
        promises.open{value: 2 ether}(deep, signature, input, output);
        SignedClaim memory cheap = _nth(1);
        _open(cheap, TEXT, _output, bob);
        _stood(f);
        // The deep one's bond is above the stake, the shallow one's is not.
        vm.fee(gasDeep / 5);
        uint256 stake = _account().free;
        assertLe(_least(gasDeep), stake);
        bytes32 behind = leaves.digestOf(cheap);
        bytes32 head = leaves.digestOf(deep);
        vm.expectEmit(address(promises));
        emit IPromises.HeadTooDear(prover, head);
        promises.passNext(prover, 0);
        uint256 since = block.timestamp;
        assertEq(_account().hotSince, since);
        skip(W0 - 1);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.TooSoon.selector, block.timestamp, since + W0));
        promises.passNext(prover, behind);
        skip(1);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.BehindNotQueued.selector, bytes32(0), prover));
        promises.passNext(prover, 0);
        uint256 bond = 20 * (GAS_BASE + GAS_PER_DEMAND * _depthOf(deep.modelId)) * gasDeep;
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.BehindTooDear.selector, bond, stake));
        promises.passNext(prover, head);
        promises.passNext(prover, behind);
        assertEq(_account().head, behind);
        assertEq(_account().tail, head);
        assertEq(_account().hotSince, 0);
        _openNext(cheap, TEXT, _output);
    }

    function _depthOf(ModelId id) private view returns (uint256) {
        return uint8(registry.modelWord(id) >> 16);
    }

    /// @dev An entry of another prover's queue lets nothing through.
    function test_passNext_othersEntry_reverts() public {
        _hot(1);
        (address other, uint256 key) = makeAddrAndKey("other");
        vm.prank(other);
        promises.setSigner(other, type(uint40).max);
        SignedClaim memory s = _nth(9);
        s.prover = other;
        bytes memory signature = _signBy(key, s);
        promises.open{value: 100 ether}(s, signature, _input(TEXT), _output);
        bytes32 digest = leaves.digestOf(s);
        promises.passNext(prover, digest);
        skip(W0);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.BehindNotQueued.selector, digest, prover));
        promises.passNext(prover, digest);
    }

    /// @dev Patience is of one head: the next one has its own.
    function test_openNext_hotSince_succeeds() public {
        SignedClaim[] memory waiting = _hot(2);
        promises.passNext(prover, 0);
        assertGt(_account().hotSince, 0);
        vm.fee(0);
        _openNext(waiting[0], TEXT, _output);
        assertEq(_account().hotSince, 0);
    }

    function test_takeBack_head_succeeds() public {
        SignedClaim[] memory waiting = _hot(3);
        promises.passNext(prover, 0);
        bytes32 digest = leaves.digestOf(waiting[0]);
        vm.prank(alice);
        promises.takeBack(digest);
        assertEq(promises.credits(alice), MIN_BOND / 10);
        assertTrue(_status(waiting[0]) == PromiseStatus.NONE);
        assertTrue(promises.signedState(digest).shown);
        assertEq(_account().head, leaves.digestOf(waiting[1]));
        assertEq(_account().hotSince, 0);
        assertEq(_account().exitAt, block.timestamp + W0);
    }

    /// @dev From the middle, and from the end: the others keep their places.
    function test_takeBack_middle_succeeds() public {
        SignedClaim[] memory waiting = _hot(4);
        promises.passNext(prover, 0);
        uint256 since = _account().hotSince;
        bytes32 second = leaves.digestOf(waiting[1]);
        bytes32 last = leaves.digestOf(waiting[3]);
        vm.startPrank(alice);
        promises.takeBack(second);
        promises.takeBack(last);
        vm.stopPrank();
        assertEq(_account().hotSince, since);
        vm.fee(0);
        _openNext(waiting[0], TEXT, _output);
        assertEq(_account().head, leaves.digestOf(waiting[2]));
        assertEq(_account().tail, leaves.digestOf(waiting[2]));
        _openNext(waiting[2], TEXT, _output);
        assertEq(_account().head, 0);
        assertEq(_account().tail, 0);
    }

    function test_takeBack_notOpener_reverts() public {
        SignedClaim[] memory waiting = _hot(1);
        bytes32 digest = leaves.digestOf(waiting[0]);
        vm.expectRevert(abi.encodeWithSelector(IPromisesErrors.NotOpener.selector, bob, alice));
        vm.prank(bob);
        promises.takeBack(digest);
    }

    function test_takeBack_notQueued_reverts() public {
        SignedClaim memory s = _promise(TEXT, _output);
        _open(s, TEXT, _output, alice);
        bytes32 digest = leaves.digestOf(s);
        vm.expectRevert(
            abi.encodeWithSelector(IPromisesErrors.NotQueued.selector, digest, PromiseStatus.OPEN)
        );
        vm.prank(alice);
        promises.takeBack(digest);
    }

    /// @dev Stake that is away counts: it may still come home.
    function test_takeBack_affordable_reverts() public {
        (, SignedClaim[] memory waiting) = _waiting(1);
        bytes32 digest = leaves.digestOf(waiting[0]);
        vm.expectRevert(
            abi.encodeWithSelector(IPromisesErrors.HeadAffordable.selector, _least(FLOOR), 10 ether)
        );
        vm.prank(alice);
        promises.takeBack(digest);
    }

    /// @dev What was shown in time can be opened again after its end, and for W0 no stake leaves.
    function test_takeBack_openAgain_succeeds() public {
        vm.prank(prover);
        promises.announceExit(1 ether);
        SignedClaim[] memory waiting = _hot(1);
        skip(9 days);
        bytes32 digest = leaves.digestOf(waiting[0]);
        vm.prank(alice);
        promises.takeBack(digest);
        uint256 exitAt = block.timestamp + W0;
        vm.expectRevert(
            abi.encodeWithSelector(IPromisesErrors.ExitTooEarly.selector, block.timestamp, exitAt)
        );
        vm.prank(prover);
        promises.exit(prover);
        vm.fee(0);
        Filed memory f = _open(waiting[0], TEXT, _output, bob);
        assertEq(f.r.window, W0);
        assertEq(promises.signedState(digest).opener, bob);
    }
}
