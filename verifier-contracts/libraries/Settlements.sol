// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAssayErrors} from "../interfaces/IAssayErrors.sol";
import {FIRST_U24} from "./Memory.sol";

/// @notice Settlements of a batch, packed (docs/PROTOCOL.md, section 2): requester and order as the event Requested has
/// them, claim, output, each behind its length (u24); then the evidence. Whoever reads them reads them here, so that
/// books and proofs are about the same bytes.
library Settlements {
    function read(bytes calldata packed)
        internal
        pure
        returns (bytes calldata order, bytes calldata claim, bytes calldata output, bytes calldata evidence)
    {
        bool malformed;
        assembly ("memory-safe") {
            order.offset := add(packed.offset, 3)
            order.length := shr(FIRST_U24, calldataload(packed.offset))
            let at := add(order.offset, order.length)
            claim.offset := add(at, 3)
            claim.length := shr(FIRST_U24, calldataload(at))
            at := add(claim.offset, claim.length)
            output.offset := add(at, 3)
            output.length := shr(FIRST_U24, calldataload(at))
            evidence.offset := add(output.offset, output.length)
            // SAFETY: each part starts behind the one before, so that one beyond the end leaves less than nothing here.
            evidence.length := sub(add(packed.offset, packed.length), evidence.offset)
            malformed := gt(evidence.length, packed.length)
        }
        if (malformed) revert IAssayErrors.SettlementMalformed(packed.length);
    }
}
