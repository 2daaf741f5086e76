// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Trial} from "../libraries/Openings.sol";
import {Parameters} from "../libraries/Parameters.sol";
import {Scan} from "../libraries/Scan.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {Values} from "../libraries/Values.sol";
import {Opening} from "../types/Types.sol";
import {Requant} from "./Requant.sol";

/// @notice RESCALE: s32 to s32 by `(x·M + B) >> S` (docs/EXACT.md, section 3).
library Rescale {
    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        (int256 acc, Parameters parameters) = Requant.open(t, openings);
        return rescale(acc, parameters);
    }

    /// @notice Stored s32. @param acc `wrap(a + bias′)`
    function rescale(int256 acc, Parameters parameters) internal pure returns (uint256) {
        return Values.storeS32(Requant.scale(acc, parameters));
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        StepRules.oneForm(s);
        StepRules.outputType(s, StepRules.S32);
        Requant.channelRules(s);
    }
}
