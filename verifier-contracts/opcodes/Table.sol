// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Openings, Trial} from "../libraries/Openings.sol";
import {Opening} from "../types/Types.sol";

/// @notice TABLE: a 256-entry map of a stored byte (docs/EXACT.md, section 3).
library Table {
    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        uint256 stored = Openings.openElement(t, openings, Openings.operand(t, 0), t.element);
        return Openings.openElement(t, openings, Openings.operand(t, 1), stored);
    }
}
