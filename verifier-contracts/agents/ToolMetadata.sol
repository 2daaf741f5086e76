// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentTool} from "./interfaces/IERCAgentTool.sol";
import {ERC165} from "@openzeppelin/contracts/utils/introspection/ERC165.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// @notice What a tool says of itself. @param name short and unique among the tools that are used together
/// @param description what it does and when to use it @param inputDescription its parameters, in order
struct ToolText {
    string name;
    string description;
    IERCAgentTool.InputDescription inputDescription;
}

/// @notice What a tool says of itself, fixed at deployment: nobody can slip words into an agent's prompt later.
abstract contract ToolMetadata is IERCAgentTool, ERC165 {
    /// @notice Thrown when a name or a description is empty: an agent chooses tools, and fills them in, by them.
    error EmptyText(address where);
    /// @notice Thrown when an address that is to be called has no code.
    error NoCode(address account);

    string private _name;
    string private _description;
    IERCAgentTool.InputDescription private _inputDescription;

    constructor(ToolText memory text) {
        _requireText(text.name);
        _requireText(text.description);
        _name = text.name;
        _description = text.description;
        IERCAgentTool.ParamDescription[] memory params = text.inputDescription.paramDescriptions;
        for (uint256 i; i < params.length; ++i) {
            _requireText(params[i].name);
            _requireText(params[i].description);
            _inputDescription.paramDescriptions.push(params[i]);
        }
    }

    /// @inheritdoc IERCAgentTool
    function name() external view returns (string memory) {
        return _name;
    }

    /// @inheritdoc IERCAgentTool
    function description() external view returns (string memory) {
        return _description;
    }

    /// @inheritdoc IERCAgentTool
    function inputDescription() public view returns (IERCAgentTool.InputDescription memory) {
        return _inputDescription;
    }

    /// @notice Semantic version; whoever replaces a tool gives the next one another.
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

    function _requireCode(address account) internal view {
        if (account.code.length == 0) revert NoCode(account);
    }

    function _requireText(string memory text) private view {
        if (bytes(text).length == 0) revert EmptyText(address(this));
    }
}
