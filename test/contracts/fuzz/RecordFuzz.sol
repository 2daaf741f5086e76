// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Flat} from "../../../verifier-contracts/libraries/Flat.sol";
import {Test} from "../support/Test.sol";
import {RecordTrial} from "./RecordTrial.sol";
import {Tally} from "./Tally.sol";

/// @notice Tries record after record of an opcode (RecordTrial), and prints what they were.
abstract contract RecordFuzz is Test {
    RecordTrial internal trial;

    function setUp() public {
        trial = new RecordTrial();
    }

    /// @notice Random records until so many elements are compared. RECORD_ELEMENTS says how many an opcode, RECORD_SEED
    /// the first record's seed; RECORD_SEED and RECORD_ELEMENTS=1 run one record again.
    /// @param share parts that an opcode's elements are divided in, one a test
    function _fuzz(uint256 opcode, uint256 part, uint256 share) internal {
        uint256 target = vm.envOr("RECORD_ELEMENTS", 1_000_000) / share;
        uint256 seed = vm.envOr("RECORD_SEED", (opcode * share + part) << 32);
        uint256[] memory table = Tally.start();
        uint256 free = Flat.mark();
        while (table[Tally.ELEMENTS] <= target) {
            (bool ok, bytes memory answer) = address(trial).call(abi.encodeCall(trial.tryRecord, (opcode, seed)));
            if (!ok) revert(Tally.failure(opcode, seed, trial.programOf(opcode, seed), answer));
            Tally.count(table, abi.decode(answer, (uint256)));
            Flat.release(free);
            ++seed;
        }
        Tally.print(opcode, table);
    }
}
