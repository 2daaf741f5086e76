// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Memory} from "../../../verifier-contracts/libraries/Memory.sol";
import {Test} from "../support/Test.sol";
import {RecordTrial} from "./RecordTrial.sol";
import {Tally} from "./Tally.sol";

/// @notice Tries record after record of an opcode (RecordTrial), and prints what they were.
abstract contract RecordFuzz is Test {
    /// @dev So many elements are of every kind.
    uint256 private constant ALL_KINDS = 1_000_000;

    RecordTrial internal trial;

    function setUp() public {
        trial = new RecordTrial();
    }

    /// @notice Random records until RECORD_ELEMENTS elements of them are compared; `npm test` and the suites say how many,
    /// a plain `forge test` has gas for some. FUZZ_SEED begins elsewhere. RECORD_SEED is the first record's seed: with
    /// RECORD_ELEMENTS=1 it is the only one, so that a record that failed runs again alone.
    /// @param variants a bit for each that the opcode has @param types likewise, of its tensor
    function _fuzz(uint256 opcode, uint256 variants, uint256 types) internal {
        uint256 target = vm.envOr("RECORD_ELEMENTS", 20_000);
        uint256 seed = vm.envOr("RECORD_SEED", opcode << 32 | vm.envOr("FUZZ_SEED", uint256(0)) << 128);
        uint256[] memory table = Tally.start();
        uint256 free = Memory.mark();
        while (table[Tally.ELEMENTS] < target) {
            (bool ok, bytes memory answer) =
                address(trial).call(abi.encodeCall(trial.tryRecord, (opcode, seed)));
            if (!ok) revert(Tally.failure(opcode, seed, trial.programOf(opcode, seed), answer));
            Tally.count(table, abi.decode(answer, (uint256)));
            // A record's memory is nobody's behind it.
            Memory.release(free);
            ++seed;
        }
        Tally.print(opcode, table);
        if (target < ALL_KINDS) return;
        string memory missing = Tally.missing(opcode, table, variants, types);
        assertEq(bytes(missing).length, 0, missing);
    }
}
