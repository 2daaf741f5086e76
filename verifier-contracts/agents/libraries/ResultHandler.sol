// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentClient} from "../interfaces/IERCAgentClient.sol";
import {BoundedCall} from "./BoundedCall.sol";
import {Introspection} from "./Introspection.sol";

/// @notice Who may take the result of an asynchronous run, and how it gets it.
library ResultHandler {
    /// @notice Thrown when a result handler has no code: it could never take a result.
    error HandlerWithoutCode(address handler);
    /// @notice Thrown when a result handler says itself that it is no IERCAgentClient.
    error HandlerNotClient(address handler);

    /// @notice Refuses a handler that answers "no" to ERC-165's question. One that does not know the question is taken:
    /// clients of the later text need not inherit ERC-165.
    function requireClient(address handler) internal view {
        if (handler.code.length == 0) revert HandlerWithoutCode(handler);
        bool saysNo = Introspection.ask(handler, type(IERCAgentClient).interfaceId) == Introspection.NO;
        if (saysNo) revert HandlerNotClient(handler);
    }

    /// @notice Hands a result to its handler, with exactly so much gas.
    /// @return success false if the handler reverted, ran out of its gas, or has no code any more
    function notify(address handler, uint256 callbackGas, int256 runId, string memory result)
        internal
        returns (bool success)
    {
        if (handler.code.length == 0) return false;
        bytes memory data = abi.encodeCall(IERCAgentClient.handleAgentResult, (runId, result));
        BoundedCall.requireGas(callbackGas);
        return BoundedCall.tryNotify(handler, callbackGas, data);
    }
}
