// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.28;

import {ToolMetadata, ToolText} from "./ToolMetadata.sol";
import {IERCAgentTool} from "./interfaces/IERCAgentTool.sol";
import {ToolResultConverter} from "./interfaces/ToolResultConverter.sol";
import {AgentInput} from "./libraries/AgentInput.sol";
import {Conversion} from "./libraries/Conversion.sol";

/// @title One function of a contract as a tool
/// @notice Calls the function with exactly the values that an agent gave and puts the result in words: a fixed text,
/// or what a converter makes of the return data. The contract that is called sees this tool as the sender, so a tool
/// that may move anything of value takes a list of callers: CallerListedTool.
contract SimpleSmartContractTool is ToolMetadata {
    /// @notice Thrown when the function reverted. @param reason its error data
    error CallFailed(address target, bytes4 selector, bytes reason);
    /// @notice Thrown when a function whose success is a fixed text returned anything but nothing or `true`.
    error NotSuccessful(address target, bytes4 selector, bytes returned);

    address public immutable toolContract;
    bytes4 public immutable toolSelector;
    bool public immutable useStaticResult;
    string public staticResult;
    ToolResultConverter public immutable toolResultConverter;

    /// @param name_ short and unique among the tools that are used together
    /// @param description_ what it does and when to use it
    /// @param toolContract_ the contract; must have code
    /// @param toolSelector_ the function's selector; deploy helpers compare it with the described parameters
    /// @param inputDescription_ every parameter of the function, in order
    /// @param useStaticResult_ true if success is told by a fixed text; the function returns nothing or a bool then
    /// @param staticResult_ that text, not used otherwise
    /// @param toolResultConverter_ puts the return data in words, not used with a fixed text
    constructor(
        string memory name_,
        string memory description_,
        address toolContract_,
        bytes4 toolSelector_,
        IERCAgentTool.InputDescription memory inputDescription_,
        bool useStaticResult_,
        string memory staticResult_,
        ToolResultConverter toolResultConverter_
    ) ToolMetadata(ToolText(name_, description_, inputDescription_)) {
        _requireCode(toolContract_);
        if (!useStaticResult_) _requireCode(address(toolResultConverter_));
        toolContract = toolContract_;
        toolSelector = toolSelector_;
        useStaticResult = useStaticResult_;
        staticResult = staticResult_;
        toolResultConverter = toolResultConverter_;
    }

    /// @notice Calls the function. Answers at once; the result handler is not used.
    function run(IERCAgentTool.Input memory input, address) public virtual returns (int256, string memory) {
        AgentInput.requireMatches(inputDescription(), input);
        _requireCode(toolContract);
        (bool success, bytes memory returned) =
            toolContract.call(bytes.concat(toolSelector, input.abiEncodedParams));
        if (!success) revert CallFailed(toolContract, toolSelector, returned);
        if (!useStaticResult) return (-1, Conversion.toText(toolResultConverter, returned));
        if (returned.length != 0 && keccak256(returned) != keccak256(abi.encode(true))) {
            revert NotSuccessful(toolContract, toolSelector, returned);
        }
        return (-1, staticResult);
    }
}
