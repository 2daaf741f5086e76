// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAssay} from "../../interfaces/IAssay.sol";
import {IAssayCallback} from "../../interfaces/IAssayCallback.sol";
import {Claim, Request, RequestId} from "../../types/Types.sol";
import {IERCAgentTool} from "./IERCAgentTool.sol";
import {IPrepaid} from "./IPrepaid.sol";

/// @notice What a claimed model tool writes into its requests.
/// @param lanes in which an output may become final @param fee wei to who makes it final
/// @param deliveryFee wei to who delivers it to the tool @param minBond least bond of a claim, wei
/// @param window seconds in which a claim can be challenged @param expirySeconds time for a claim to be made
/// @param handlerGas gas that a result handler gets
struct ClaimTerms {
    uint8 lanes;
    uint96 fee;
    uint96 deliveryFee;
    uint96 minBond;
    uint32 window;
    uint32 expirySeconds;
    uint32 handlerGas;
}

/// @notice A run. @param lane how its output became final, 0 until it is
/// @param finalAt second in which that was booked or, pulled, accepted
/// @param delivered true once the handler took the result
struct ModelRun {
    address payer;
    address resultHandler;
    RequestId requestId;
    uint8 lane;
    uint64 finalAt;
    bool delivered;
}

/// @title A model whose outputs are claimed, or proven, and reach the caller when they are final and not before
/// @notice `run` files a request with Assay, paid from the caller's balance here, and returns the tool's own count of
/// runs. The result comes from this contract: Assay's courier brings the final output here, and this contract hands
/// the words to the handler and keeps the bytes.
interface IClaimedModelTool is IERCAgentTool, IPrepaid, IAssayCallback {
    /// @param input the model's calldata
    event RunRequested(
        int256 indexed runId,
        RequestId indexed requestId,
        address indexed payer,
        address resultHandler,
        bytes input
    );
    event ResultFinal(int256 indexed runId, RequestId indexed requestId, uint8 lane, bytes output);
    event ResultDelivered(int256 indexed runId, address indexed resultHandler, bool success);
    event RunRefunded(int256 indexed runId, address indexed payer, uint256 amount);

    /// @notice Thrown when a callback does not come from Assay's courier.
    error NotCourier(address sender, address courier);
    /// @notice Thrown when a request is not one of this tool.
    error UnknownRequest(RequestId requestId);
    /// @notice Thrown when there is no such run.
    error UnknownRun(int256 runId);
    /// @notice Thrown when a run's output is not final, or not known here yet.
    error NotFinal(int256 runId);
    error AlreadyDelivered(int256 runId);
    error AlreadyRefunded(int256 runId);
    /// @notice Thrown when a request's money cannot come back in this state.
    error NotRefundable(RequestId requestId, uint8 state);
    /// @notice Thrown when somebody else than Assay sends ether without saying for whom.
    error NotAssay(address sender);

    /// @notice Takes a final output that nobody has delivered, and delivers it. Anybody may call it.
    /// @param r the run's request, `requestOf` @param c the final claim, all zeros if truth came without one
    function accept(Request calldata r, Claim calldata c, bytes calldata output) external;
    /// @notice Hands a final result to its handler; until it was taken once, anybody may try again.
    function deliver(int256 runId) external;
    /// @notice Brings back what a run has not spent: all of it once its request has expired unanswered, the delivery
    /// fee once nobody delivered in time. Anybody may call it; the payer's balance here grows.
    function refund(Request calldata r) external;

    function runOf(int256 runId) external view returns (ModelRun memory);
    function runIdOf(RequestId requestId) external view returns (int256);
    /// @notice The request of a run, from the second and the input of its event.
    function requestOf(int256 runId, bytes32 inputHash, uint40 expiry) external view returns (Request memory);
    /// @notice The model's return data, final. What guards compare.
    function outputOf(int256 runId) external view returns (bytes memory);
    /// @notice The same in words, as the handler gets it.
    function resultOf(int256 runId) external view returns (string memory);
    function terms() external view returns (ClaimTerms memory);
    function runCount() external view returns (int256);
    function assay() external view returns (IAssay);
}
