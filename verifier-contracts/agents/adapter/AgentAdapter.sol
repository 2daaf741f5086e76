// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAgentResults} from "../interfaces/IAgentResults.sol";

/// @title An agent as a contract
/// @notice A plain call, `IJsonSelector(adapter).fetch(url, selector)`, returns the final result for exactly that
/// calldata, or reverts and says how to have it made. No chain waits inside a call for an agent off chain; so the
/// result is made first, and read by the same call then.
/// @dev It has no function of its own: every selector is the agent's. It only reads, so it can be called statically.
contract AgentAdapter {
    IAgentResults private immutable _RESULTS;

    /// @notice Thrown when there is no final result for this calldata yet. Whoever wants it sends `request` with
    /// `value` wei to `target`, waits until it is final, and calls again.
    error AgentResultNotFinal(address target, uint256 value, bytes request);
    /// @notice Thrown when the source of results has no code.
    error NotAContract(address results);

    constructor(IAgentResults results) {
        if (address(results).code.length == 0) revert NotAContract(address(results));
        _RESULTS = results;
    }

    /// @param data the agent's calldata @return the agent's return data
    fallback(bytes calldata data) external returns (bytes memory) {
        (bool isFinal, bytes memory result) = _RESULTS.resultOf(data);
        if (isFinal) return result;
        (address target, uint256 value, bytes memory request) = _RESULTS.requestFor(data);
        revert AgentResultNotFinal(target, value, request);
    }
}
