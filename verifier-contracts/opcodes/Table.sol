// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Facts} from "../libraries/Facts.sol";
import {Openings, Trial} from "../libraries/Openings.sol";
import {Scan} from "../libraries/Scan.sol";
import {SHAPE_OF_ONE} from "../libraries/Shapes.sol";
import {StepRules} from "../libraries/StepRules.sol";
import {LAYOUT_PLAIN, ProgramField, TYPE_U8} from "../types/Program.sol";
import {Opening} from "../types/Types.sol";

/// @notice TABLE: a 256-entry map of a stored byte (docs/EXACT.md, section 3).
library Table {
    /// @dev The shape [256].
    uint256 private constant MAP_SHAPE = 256 * SHAPE_OF_ONE;

    function judge(Trial memory t, Opening[] calldata openings) internal view returns (uint256) {
        uint256 stored = Openings.openElement(t, openings, Openings.operand(t, 0), t.element);
        return Openings.openElement(t, openings, Openings.operand(t, 1), stored);
    }

    /// @notice Structure rules (docs/EXACT.md, section 3).
    function rules(Scan memory s) internal pure {
        StepRules.oneForm(s);
        StepRules.outputType(s, StepRules.BYTES | StepRules.BOOL);
        StepRules.same(s, 0, StepRules.BYTES | StepRules.BOOL);
        (Facts map, uint256 shape) = StepRules.weights(s, 1, LAYOUT_PLAIN);
        if (shape != MAP_SHAPE || map.code() != TYPE_U8) {
            StepRules.fail(s, ProgramField.OPERAND_B, shape);
        }
        StepRules.none(s, 2);
        StepRules.noAttribute(s);
    }
}
