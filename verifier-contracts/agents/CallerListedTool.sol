// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {SimpleSmartContractTool} from "./SimpleSmartContractTool.sol";
import {IERCAgentTool} from "./interfaces/IERCAgentTool.sol";
import {ToolResultConverter} from "./interfaces/ToolResultConverter.sol";

/// @title One function of a contract as a tool for some callers alone
/// @notice The contract that is called sees the tool as the sender, so whoever may use the tool may do what the tool
/// may do there. The list is fixed at deployment.
contract CallerListedTool is SimpleSmartContractTool {
    /// @notice Thrown when a caller is not in the list.
    error CallerNotListed(address sender);

    mapping(address => bool) public isCaller;

    /// @param callers_ who may call `run`; the rest as in SimpleSmartContractTool
    constructor(
        string memory name_,
        string memory description_,
        address toolContract_,
        bytes4 toolSelector_,
        IERCAgentTool.InputDescription memory inputDescription_,
        bool useStaticResult_,
        string memory staticResult_,
        ToolResultConverter toolResultConverter_,
        address[] memory callers_
    )
        SimpleSmartContractTool(
            name_,
            description_,
            toolContract_,
            toolSelector_,
            inputDescription_,
            useStaticResult_,
            staticResult_,
            toolResultConverter_
        )
    {
        for (uint256 i; i < callers_.length; ++i) {
            isCaller[callers_[i]] = true;
        }
    }

    /// @inheritdoc SimpleSmartContractTool
    function run(IERCAgentTool.Input memory input, address resultHandler)
        public
        override
        returns (int256, string memory)
    {
        if (!isCaller[msg.sender]) revert CallerNotListed(msg.sender);
        return super.run(input, resultHandler);
    }
}
