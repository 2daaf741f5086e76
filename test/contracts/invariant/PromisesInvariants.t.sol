// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Test} from "../support/Test.sol";
import {PromisesHandler} from "./PromisesHandler.sol";

/// @notice Random play of promises on the real Assay, judge and registry.
contract PromisesInvariantsTest is Test {
    uint256 private constant MOVES = 17;

    PromisesHandler private handler;
    uint256[MOVES] private _accepted;
    uint256[MOVES] private _refused;

    function setUp() public {
        handler = new PromisesHandler();
        handler.setUp();
        targetContract(address(handler));
        targetSelector(FuzzSelector(address(handler), _moves()));
    }

    function _moves() private view returns (bytes4[] memory moves) {
        bytes4[25] memory all = [
            handler.deposit.selector,
            handler.announceExit.selector,
            handler.exit.selector,
            handler.open.selector,
            handler.openNext.selector,
            handler.passNext.selector,
            handler.takeBack.selector,
            handler.challenge.selector,
            handler.timeout.selector,
            handler.close.selector,
            handler.post.selector,
            handler.openLeaf.selector,
            handler.fallWhileAnotherWaits.selector,
            handler.nextLeaf.selector,
            handler.dropLeaf.selector,
            handler.release.selector,
            handler.withdraw.selector,
            handler.pullBurn.selector,
            handler.forceEther.selector,
            handler.setFee.selector,
            handler.wait.selector,
            // What drives the game on comes more often.
            handler.open.selector,
            handler.openLeaf.selector,
            handler.close.selector,
            handler.wait.selector
        ];
        moves = new bytes4[](all.length);
        for (uint256 i; i < all.length; i++) {
            moves[i] = all[i];
        }
    }

    /// @notice free + leaving + away + slots + deposits + credits + burned + paid + lost = received, and what is booked as
    /// being here is here.
    function invariant_booksBalance() public view {
        handler.checkBooks();
    }

    function invariant_awayIsInAssay() public view {
        handler.checkAway();
    }

    function invariant_finalStaysFinal() public {
        handler.checkFinality();
    }

    function invariant_queueIsWhole() public view {
        handler.checkQueue();
    }

    /// @dev Long games: every move was accepted and refused, so the invariants say something.
    function test_handler_playsEveryMove_succeeds() public {
        vm.pauseGasMetering();
        bytes4[] memory moves = _moves();
        uint256 random = 0xa55a;
        for (uint256 game; game < 200; game++) {
            uint256 state = vm.snapshotState();
            for (uint256 i; i < 100; i++) {
                random = uint256(keccak256(abi.encode(random)));
                (bool done, bytes memory why) = address(handler)
                    .call(
                        abi.encodePacked(
                            moves[random % moves.length],
                            keccak256(abi.encode(random, 1)),
                            keccak256(abi.encode(random, 2)),
                            random >> 255,
                            uint256(random >> 254 & 1)
                        )
                    );
                if (!done) {
                    assembly {
                        revert(add(why, 32), mload(why))
                    }
                }
                handler.checkFinality();
            }
            handler.checkBooks();
            handler.checkAway();
            handler.checkQueue();
            _count(state);
        }
        for (uint256 i; i < MOVES; i++) {
            assertGt(_accepted[i], 1, string.concat("too seldom accepted: ", vm.toString(i)));
        }
    }

    /// @dev A new game from the start, with the counts of the games before.
    function _count(uint256 state) private {
        uint256[MOVES] memory accepted = _accepted;
        uint256[MOVES] memory refused = _refused;
        for (uint256 i; i < MOVES; i++) {
            accepted[i] += handler.accepted(PromisesHandler.Move(i));
            refused[i] += handler.refused(PromisesHandler.Move(i));
        }
        vm.revertToState(state);
        (_accepted, _refused) = (accepted, refused);
    }
}
