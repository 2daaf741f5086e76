// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Courier} from "../Courier.sol";
import {IAssay} from "../interfaces/IAssay.sol";
import {DELIVERED, RECLAIMED, REQUEST_DONE, RequestWord} from "../libraries/RequestWord.sol";
import {Terms} from "../libraries/Terms.sol";
import {Claim, Request, RequestId} from "../types/Types.sol";
import {AssayResults} from "./AssayResults.sol";

/// @notice Bringing a final output to the contract that asked for it. What happens here changes no result.
abstract contract AssayDelivery is AssayResults {
    using Terms for Request;

    uint256 private constant RECLAIM_AFTER = 7 days;

    /// @inheritdoc IAssay
    function deliver(Request calldata r, Claim calldata c, bytes calldata output) external {
        RequestId id = r.idOf();
        RequestWord word = _requests[id];
        _requireResult(id, word, c, output);
        if (r.callback == address(0)) revert CallbackMissing(r.deliveryFee);
        _requireUndelivered(id, word);
        // Marked before the call: a callback that delivers again, or reclaims, finds it delivered.
        _requests[id] = word.flagged(DELIVERED);
        bool success = Courier(courier)
            .carry(
                r.callback,
                r.callbackGas,
                RequestId.unwrap(id),
                output,
                word.lane(),
                word.requestedAt(),
                word.settledAt()
            );
        if (success) _credit(msg.sender, r.deliveryFee);
        // INVARIANT: nothing else writes the word of a request that is DONE and marked.
        else _requests[id] = word;
        emit Delivered(id, msg.sender, success);
    }

    /// @inheritdoc IAssay
    function reclaimDelivery(Request calldata r) external {
        RequestId id = r.idOf();
        RequestWord word = _requests[id];
        if (word.state() != REQUEST_DONE) revert RequestNotDone(id, word.state());
        // Without a fee this would only take away the delivery.
        if (r.deliveryFee == 0) revert NothingToReclaim(id);
        _requireUndelivered(id, word);
        uint256 first = word.settledAt() + RECLAIM_AFTER;
        if (block.timestamp < first) revert NotYet(block.timestamp, first);
        _requests[id] = word.flagged(RECLAIMED);
        emit DeliveryReclaimed(id);
        _credit(r.requester, r.deliveryFee);
    }

    function _requireUndelivered(RequestId id, RequestWord word) private pure {
        if (word.isClosed()) revert AlreadyDelivered(id);
    }
}
