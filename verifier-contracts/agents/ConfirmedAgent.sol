// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgent} from "./IERCAgent.sol";
import {IERCAgentTool} from "./interfaces/IERCAgentTool.sol";

/// @notice An agent of one transaction whose tool uses a human confirms.
/// @dev One transaction cannot wait, so a run that comes to an unconfirmed use is undone and says what it needs; run
/// again once that is confirmed, it goes on. A confirmation holds for one use: this agent, this run, this requester and
/// prompt, this iteration, this tool, these values. A denial holds for ever.
abstract contract ConfirmedAgent is IERCAgent {
    enum Decision {
        NONE,
        CONFIRMED,
        DENIED
    }

    event CallConfirmed(bytes32 indexed callHash);
    event CallDenied(bytes32 indexed callHash);

    /// @notice Thrown when a use waits for the confirmer; the arguments say what it is.
    error NotConfirmed(
        bytes32 callHash, int256 runId, uint16 iteration, IERCAgentTool tool, IERCAgentTool.Input input
    );
    /// @notice Thrown when a use was denied.
    error Denied(bytes32 callHash);
    /// @notice Thrown when somebody else than the confirmer decides.
    error NotConfirmer(address sender, address confirmer);
    /// @notice Thrown when a denied use is to be confirmed.
    error AlreadyDenied(bytes32 callHash);

    address public immutable confirmer;
    mapping(bytes32 callHash => Decision) public decisionOf;

    constructor(address confirmer_) {
        confirmer = confirmer_;
    }

    function confirm(bytes32 callHash) external {
        _requireConfirmer();
        if (decisionOf[callHash] == Decision.DENIED) revert AlreadyDenied(callHash);
        decisionOf[callHash] = Decision.CONFIRMED;
        emit CallConfirmed(callHash);
    }

    function deny(bytes32 callHash) external {
        _requireConfirmer();
        decisionOf[callHash] = Decision.DENIED;
        emit CallDenied(callHash);
    }

    /// @notice What a confirmation binds.
    function callHashOf(
        int256 runId,
        uint16 iteration,
        address requester,
        string memory prompt,
        IERCAgentTool tool,
        IERCAgentTool.Input memory input
    ) public view returns (bytes32) {
        return keccak256(
            abi.encode(
                block.chainid, this, runId, iteration, requester, prompt, tool, keccak256(abi.encode(input))
            )
        );
    }

    /// @dev Tools that only look something up may do without.
    function _needsConfirmation(IERCAgentTool) internal view virtual returns (bool) {
        return true;
    }

    /// @inheritdoc IERCAgent
    function _beforeTool(
        int256 runId,
        uint16 iteration,
        string memory prompt,
        IERCAgentTool tool,
        IERCAgentTool.Input memory input
    ) internal virtual override {
        if (!_needsConfirmation(tool)) return;
        bytes32 callHash = callHashOf(runId, iteration, msg.sender, prompt, tool, input);
        Decision decision = decisionOf[callHash];
        if (decision == Decision.DENIED) revert Denied(callHash);
        if (decision == Decision.NONE) revert NotConfirmed(callHash, runId, iteration, tool, input);
        delete decisionOf[callHash];
    }

    function _requireConfirmer() private view {
        if (msg.sender != confirmer) revert NotConfirmer(msg.sender, confirmer);
    }
}
