// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {AssayFixture} from "../support/assay/AssayFixture.sol";
import {AssayHandler} from "./AssayHandler.sol";
import {GameSpec} from "./GameSpec.sol";

/// @notice Random play of everything by everybody. The handler refuses no move by itself: it asks the contract for
/// moves that the rules allow and for moves that they forbid, and fails where the two disagree.
contract AssayInvariantsTest is AssayFixture {
    AssayHandler private handler;

    function setUp() public override {
        super.setUp();
        registry.setModel(MODEL, _modelWord(ALL_LANES, 2));
        handler = new AssayHandler(assay, execution, MODEL, 2, _input());
        execution.setRight(MODEL, _input(), abi.encode(uint256(7), uint256(0)));
        proof.setRight(MODEL, _input(), abi.encode(uint256(7), uint256(0)));
        // Something to play for from the first move on.
        for (uint256 i = 1; i < 4; i++) {
            handler.request(i, FEE, 4 * T);
        }
        handler.claim(1, 0);
        handler.challenge(2, 1);
        targetContract(address(handler));
        targetSelector(FuzzSelector(address(handler), _moves()));
    }

    function _moves() private view returns (bytes4[] memory moves) {
        moves = new bytes4[](28);
        moves[0] = handler.request.selector;
        moves[1] = handler.claim.selector;
        moves[2] = handler.challenge.selector;
        moves[3] = handler.commitTrace.selector;
        moves[4] = handler.demand.selector;
        moves[5] = handler.reveal.selector;
        moves[6] = handler.convict.selector;
        moves[7] = handler.timeoutTrace.selector;
        moves[8] = handler.timeoutDemand.selector;
        moves[9] = handler.settle.selector;
        moves[10] = handler.finalize.selector;
        moves[11] = handler.deliver.selector;
        moves[12] = handler.reclaimDelivery.selector;
        moves[13] = handler.refund.selector;
        moves[14] = handler.collect.selector;
        moves[15] = handler.withdraw.selector;
        moves[16] = handler.pullBurn.selector;
        moves[17] = handler.forceEther.selector;
        moves[18] = handler.wait.selector;
        // What drives the game on comes more often.
        moves[19] = handler.claim.selector;
        moves[20] = handler.challenge.selector;
        moves[21] = handler.commitTrace.selector;
        moves[22] = handler.demand.selector;
        moves[23] = handler.wait.selector;
        moves[24] = handler.reveal.selector;
        moves[25] = handler.reveal.selector;
        moves[26] = handler.demand.selector;
        moves[27] = handler.commitTrace.selector;
    }

    /// @notice INVARIANTS.md 1: credits + live bonds + fees + burned = received, to the wei and for each account.
    function invariant_booksBalance() public view {
        handler.checkBooks();
    }

    /// @notice INVARIANTS.md 4: past filing + W + L a claim can be finalized or timed out.
    function invariant_nothingStaysOpen() public view {
        handler.checkBound();
    }

    /// @notice INVARIANTS.md 5: finality is monotone, and the gate opens for the final output alone.
    function invariant_finalStaysFinal() public {
        handler.checkFinality();
    }

    /// @notice The packed words say what the plain fields say.
    function invariant_wordsFollowRules() public view {
        handler.checkWords();
    }

    /// @dev Whole games only: a failing one is cut down to a few moves before it is shown.
    function afterInvariant() public view {
        // How much each move does in all is asserted below; a single game may be an unlucky one.
        if (handler.tried() >= 45) assertGt(handler.done(), 0, "the handler did nothing");
    }

    /// @dev One long game: every move was accepted and refused many times, so the invariants above say something.
    function test_handler_playsEveryMove_succeeds() public {
        bytes4[] memory moves = _moves();
        uint256 random = 0xa55a;
        for (uint256 game; game < 150; game++) {
            uint256 state = vm.snapshotState();
            for (uint256 i; i < 100; i++) {
                random = uint256(keccak256(abi.encode(random)));
                (bool done, bytes memory why) = address(handler)
                    .call(
                        abi.encodePacked(
                            moves[random % moves.length],
                            keccak256(abi.encode(random, 1)),
                            keccak256(abi.encode(random, 2)),
                            keccak256(abi.encode(random, 3))
                        )
                    );
                if (!done) {
                    assembly {
                        revert(add(why, 32), mload(why))
                    }
                }
            }
            handler.checkBooks();
            handler.checkFinality();
            handler.checkWords();
            handler.checkBound();
            _count();
            _keepCounts(state);
        }
        for (uint256 i; i < _accepted.length; i++) {
            assertGt(_accepted[i], 4, string.concat("too seldom accepted: ", vm.toString(i)));
            assertGt(_refused[i], 4, string.concat("too seldom refused: ", vm.toString(i)));
        }
    }

    uint256[17] private _accepted;
    uint256[17] private _refused;

    function _count() private {
        for (uint256 i; i < 17; i++) {
            _accepted[i] += handler.accepted(GameSpec.Move(i));
            _refused[i] += handler.refused(GameSpec.Move(i));
        }
    }

    /// @dev A new game from the start, with the counts of the games before.
    function _keepCounts(uint256 state) private {
        uint256[17] memory accepted = _accepted;
        uint256[17] memory refused = _refused;
        vm.revertToState(state);
        _accepted = accepted;
        _refused = refused;
    }
}
