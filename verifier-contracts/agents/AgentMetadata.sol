// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IAgentMetadata} from "./interfaces/IAgentMetadata.sol";
import {AgentIterationResult} from "./interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "./interfaces/IERCAgentTool.sol";
import {AgentInput} from "./libraries/AgentInput.sol";
import {Introspection} from "./libraries/Introspection.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice What an agent is, whoever executes it: name, prompt, tools. Fixed at deployment, for life.
/// @dev Tools are checked at the first run and not in the constructor: an agent may create its own tools in its
/// constructor, after this one.
abstract contract AgentMetadata is IAgentMetadata, ERC165 {
    /// @notice Thrown when an agent is allowed no iteration.
    error NoIterations();
    /// @notice Thrown when a name or a description is empty: an agent chooses tools by them.
    error EmptyText(address where);
    /// @notice Thrown when an address that is to be called has no code, zero included.
    error NoCode(address account);
    /// @notice Thrown when a tool stands twice in the list.
    error DuplicateTool(IERCAgentTool tool);
    /// @notice Thrown when two tools of the list have one name.
    error DuplicateToolName(IERCAgentTool tool, string name);
    /// @notice Thrown when an iteration chooses something that is not one of the agent's tools.
    error NotATool(IERCAgentTool tool);
    /// @notice Thrown when an iteration says both that it is over and what to do next.
    error AmbiguousIteration();

    string private _modelIdText;
    string private _nameText;
    string private _descriptionText;
    string private _basePromptText;
    IERCAgentTool[] public tools;
    uint16 public immutable agentMaxIterations;
    int256 public currentRunId;

    string private _promptDescription;
    bool private _toolsChecked;

    constructor(
        string memory _modelId,
        string memory _name,
        string memory _description,
        string memory _inputDescription,
        string memory _basePrompt,
        IERCAgentTool[] memory _tools,
        uint16 _agentMaxIterations
    ) {
        if (bytes(_name).length == 0 || bytes(_description).length == 0) {
            revert EmptyText(address(this));
        }
        if (_agentMaxIterations == 0) revert NoIterations();
        _modelIdText = _modelId;
        _nameText = _name;
        _descriptionText = _description;
        _basePromptText = _basePrompt;
        _promptDescription = _inputDescription;
        for (uint256 i; i < _tools.length; ++i) {
            tools.push(_tools[i]);
        }
        agentMaxIterations = _agentMaxIterations;
    }

    /// @inheritdoc IERCAgentTool
    function name() external view returns (string memory) {
        return _read(_nameText);
    }

    /// @inheritdoc IERCAgentTool
    function description() external view returns (string memory) {
        return _read(_descriptionText);
    }

    /// @inheritdoc IAgentMetadata
    function modelId() public view returns (string memory) {
        return _read(_modelIdText);
    }

    /// @inheritdoc IAgentMetadata
    function agentName() external view returns (string memory) {
        return _read(_nameText);
    }

    /// @inheritdoc IAgentMetadata
    function agentDescription() external view returns (string memory) {
        return _read(_descriptionText);
    }

    /// @inheritdoc IAgentMetadata
    function basePrompt() public view returns (string memory) {
        return _read(_basePromptText);
    }

    /// @inheritdoc IERCAgentTool
    function inputDescription() public view returns (IERCAgentTool.InputDescription memory d) {
        d.paramDescriptions = new IERCAgentTool.ParamDescription[](1);
        d.paramDescriptions[0] = ParamDescription(ParamType.STRING, "prompt", _read(_promptDescription));
    }

    /// @inheritdoc IAgentMetadata
    function allTools() public view returns (IERCAgentTool[] memory) {
        return tools;
    }

    /// @inheritdoc IAgentMetadata
    function version() external view virtual returns (string memory) {
        return "1.0.0";
    }

    /// @inheritdoc IERC165
    function supportsInterface(bytes4 interfaceId)
        public
        view
        virtual
        override(ERC165, IERC165)
        returns (bool)
    {
        return interfaceId == type(IERCAgentTool).interfaceId || super.supportsInterface(interfaceId);
    }

    /// @dev One copy of the code that loads a text.
    function _read(string storage text) internal pure returns (string memory) {
        return text;
    }

    /// @dev The prompt of a run, from an input that is exactly one text, encoded twice alike.
    function _promptOf(IERCAgentTool.Input memory input) internal view returns (string memory) {
        AgentInput.requireMatches(inputDescription(), input);
        return abi.decode(input.params[0].value, (string));
    }

    /// @dev All tools, once each, with code and names of their own; looked at once in the agent's life.
    function _checkedTools() internal returns (IERCAgentTool[] memory list) {
        list = allTools();
        if (_toolsChecked) return list;
        bytes32[] memory names = new bytes32[](list.length);
        for (uint256 i; i < list.length; ++i) {
            IERCAgentTool tool = list[i];
            _requireCode(address(tool));
            string memory toolName = Introspection.requireName(tool);
            if (bytes(toolName).length == 0) revert EmptyText(address(tool));
            names[i] = keccak256(bytes(toolName));
            for (uint256 j; j < i; ++j) {
                if (address(list[j]) == address(tool)) revert DuplicateTool(tool);
                if (names[j] == names[i]) revert DuplicateToolName(tool, toolName);
            }
        }
        _toolsChecked = true;
    }

    function _requireCode(address account) internal view {
        if (account.code.length == 0) revert NoCode(account);
    }

    /// @dev INVARIANT: no call leaves an agent for a tool that is not in its list.
    function _requireTool(IERCAgentTool[] memory list, IERCAgentTool tool) internal pure {
        for (uint256 i; i < list.length; ++i) {
            if (address(list[i]) == address(tool)) return;
        }
        revert NotATool(tool);
    }

    /// @dev The fields of the other case are empty, so that nobody can read one iteration in two ways.
    function _requireClear(AgentIterationResult memory result) internal pure {
        bool clear = result.isFinalAnswer
            ? address(result.tool) == address(0) && result.toolInput.params.length == 0
                && result.toolInput.abiEncodedParams.length == 0 && bytes(result.agentReasoning).length == 0
            : bytes(result.finalAnswer).length == 0;
        if (!clear) revert AmbiguousIteration();
    }
}
