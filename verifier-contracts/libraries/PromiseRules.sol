// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {BatchState, LeafState, PromiseStatus} from "../types/PromiseTypes.sol";

/// @notice What the states of batches and leaves say.
library PromiseRules {
    /// @notice True if nothing can change the batch any more: no leaf can be opened, and each that was has stood.
    function isFinal(BatchState memory b) internal view returns (bool) {
        return b.windowEnd != 0 && block.timestamp >= b.windowEnd && b.open == 0 && !b.fallen;
    }

    function statusOf(LeafState memory leaf) internal pure returns (PromiseStatus) {
        if (leaf.opener == address(0)) return PromiseStatus.NONE;
        if (leaf.deposit == 0) return PromiseStatus.CLOSED;
        return leaf.hash == 0 ? PromiseStatus.OPEN : PromiseStatus.QUEUED;
    }
}
