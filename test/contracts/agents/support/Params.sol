// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IERCAgentTool} from "../../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../../verifier-contracts/agents/libraries/AgentInput.sol";

/// @notice Short ways to write values, descriptions and inputs.
library Params {
    function text(string memory v) internal pure returns (IERCAgentTool.ParamValue memory) {
        return IERCAgentTool.ParamValue(IERCAgentTool.ParamType.STRING, abi.encode(v));
    }

    function account(address v) internal pure returns (IERCAgentTool.ParamValue memory) {
        return IERCAgentTool.ParamValue(IERCAgentTool.ParamType.ADDRESS, abi.encode(v));
    }

    function number(uint256 v) internal pure returns (IERCAgentTool.ParamValue memory) {
        return IERCAgentTool.ParamValue(IERCAgentTool.ParamType.UINT, abi.encode(v));
    }

    function input(IERCAgentTool.ParamValue memory a) internal pure returns (IERCAgentTool.Input memory) {
        IERCAgentTool.ParamValue[] memory params = new IERCAgentTool.ParamValue[](1);
        params[0] = a;
        return AgentInput.join(params);
    }

    function input(IERCAgentTool.ParamValue memory a, IERCAgentTool.ParamValue memory b)
        internal
        pure
        returns (IERCAgentTool.Input memory)
    {
        IERCAgentTool.ParamValue[] memory params = new IERCAgentTool.ParamValue[](2);
        (params[0], params[1]) = (a, b);
        return AgentInput.join(params);
    }

    function none() internal pure returns (IERCAgentTool.Input memory) {}

    /// @notice Describes parameters by type; the first is called "a", the next "b" and so on.
    function describe(IERCAgentTool.ParamType[] memory types)
        internal
        pure
        returns (IERCAgentTool.InputDescription memory d)
    {
        d.paramDescriptions = new IERCAgentTool.ParamDescription[](types.length);
        for (uint256 i; i < types.length; i++) {
            string memory name = string(abi.encodePacked(bytes1(uint8(97 + i))));
            d.paramDescriptions[i] = IERCAgentTool.ParamDescription(types[i], name, "a value");
        }
    }

    function describe(IERCAgentTool.ParamType a)
        internal
        pure
        returns (IERCAgentTool.InputDescription memory)
    {
        IERCAgentTool.ParamType[] memory types = new IERCAgentTool.ParamType[](1);
        types[0] = a;
        return describe(types);
    }

    function describe(IERCAgentTool.ParamType a, IERCAgentTool.ParamType b)
        internal
        pure
        returns (IERCAgentTool.InputDescription memory)
    {
        IERCAgentTool.ParamType[] memory types = new IERCAgentTool.ParamType[](2);
        (types[0], types[1]) = (a, b);
        return describe(types);
    }
}
