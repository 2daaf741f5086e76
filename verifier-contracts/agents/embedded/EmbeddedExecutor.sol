// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {AgentIterationResult, IERCAgentExecutor} from "../interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../interfaces/IERCAgentTool.sol";
import {BoundedCall} from "../libraries/BoundedCall.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";

/// @title An executor whose language model stands behind a precompile of the chain
/// @notice Reads what the tools say of themselves and hands all of it to the precompile, which sees nothing else: its
/// answer belongs to these bytes. What it decides is attested by who runs the chain, and verified by nobody.
/// @dev The precompile exists on a development chain only (docs/EXECUTOR.md). It takes abi.encode(Question) and returns
/// abi.encode(AgentIterationResult), or fails with the data of an error below.
contract EmbeddedExecutor is IERCAgentExecutor, ERC165 {
    /// @notice A tool in its own words.
    struct DescribedTool {
        IERCAgentTool tool;
        string name;
        string description;
        IERCAgentTool.ParamDescription[] params;
    }

    struct Question {
        string modelId;
        string basePrompt;
        DescribedTool[] tools;
        string[] agentReasoning;
        string[] toolResults;
        string prompt;
    }

    /// @notice Thrown when a tool says more of itself than a question has room for.
    error DescriptionTooLong(IERCAgentTool tool, uint256 size, uint256 max);
    /// @notice Thrown when the precompile had too little gas even to ask the model. @param gasLeft what it left
    error ModelGasMissing(uint256 gasLeft);
    /// @notice Thrown when this chain has no model at the precompile's address.
    error NoModelHere(address precompile);
    /// @notice Thrown by the precompile when the model gave no answer that can be used. @param code what went wrong, as
    /// the chain's log explains
    error InferenceFailed(string code);
    /// @notice Thrown by the precompile when a question is longer than it takes.
    error QuestionTooLong(uint256 length, uint256 max);
    /// @notice Thrown by the precompile when a decision is longer than it may be.
    error AnswerTooLong(uint256 length, uint256 max);
    /// @notice Thrown by the precompile when a question is not the encoding of one.
    error QuestionMalformed();

    /// @notice Most bytes of a tool's description, encoded.
    uint256 public constant DESCRIPTION_BYTES = 8_192;
    /// @dev What reading one tool gets: so long a description in cold storage costs little more than half of it.
    uint256 private constant DESCRIBE_GAS = 1_000_000;

    address public immutable precompile;

    constructor(address precompile_) {
        precompile = precompile_;
    }

    /// @notice What a tool says of itself now. Reverts if that is too long.
    function describe(IERCAgentTool tool) external view returns (DescribedTool memory d) {
        d = DescribedTool(tool, tool.name(), tool.description(), tool.inputDescription().paramDescriptions);
        uint256 size = abi.encode(d).length;
        if (size > DESCRIPTION_BYTES) revert DescriptionTooLong(tool, size, DESCRIPTION_BYTES);
    }

    /// @inheritdoc IERCAgentExecutor
    /// @dev A tool that does not describe itself within the limits is left out, so that the others can be used.
    function runNextIteration(
        string memory modelId,
        string memory basePrompt,
        IERCAgentTool[] memory tools,
        string[] memory agentReasoning,
        string[] memory toolResults,
        string memory prompt
    ) external view returns (AgentIterationResult memory) {
        Question memory question = Question(
            modelId, basePrompt, _described(tools), agentReasoning, toolResults, prompt
        );
        (bool success, bytes memory answer) = precompile.staticcall(abi.encode(question));
        if (!success) {
            if (answer.length == 0) revert ModelGasMissing(gasleft());
            assembly ("memory-safe") {
                revert(add(answer, 32), mload(answer))
            }
        }
        // An account without code answers every call, with nothing.
        if (answer.length == 0) revert NoModelHere(precompile);
        return abi.decode(answer, (AgentIterationResult));
    }

    function supportsInterface(bytes4 interfaceId) public view override returns (bool) {
        return interfaceId == type(IERCAgentExecutor).interfaceId || super.supportsInterface(interfaceId);
    }

    function _described(IERCAgentTool[] memory tools) private view returns (DescribedTool[] memory list) {
        list = new DescribedTool[](tools.length);
        uint256 count;
        for (uint256 i; i < tools.length; ++i) {
            BoundedCall.requireGas(DESCRIBE_GAS);
            try this.describe{gas: DESCRIBE_GAS}(tools[i]) returns (DescribedTool memory d) {
                list[count++] = d;
            } catch {}
        }
        assembly ("memory-safe") {
            mstore(list, count)
        }
    }
}
