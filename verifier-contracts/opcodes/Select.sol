// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Openings, Trial} from "../libraries/Openings.sol";
import {Scan} from "../libraries/Scan.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {Opening} from "../types/Types.sol";

/// @notice SELECT: `a ≠ 0 ? b : c`, stored bytes copied (docs/EXACT.md, section 3).
library Select {
    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        (uint256 condition,) = Openings.openBroadcast(t, openings, 0);
        (uint256 b,) = Openings.openBroadcast(t, openings, 1);
        (uint256 c,) = Openings.openBroadcast(t, openings, 2);
        return condition != 0 ? b : c;
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        uint256 types = 1 << s.own.code();
        StepRules.oneForm(s);
        StepRules.broadcast(s, 0, StepRules.BOOL);
        StepRules.broadcast(s, 1, types);
        StepRules.broadcast(s, 2, types);
        StepRules.noAttribute(s);
    }
}
