// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IERCAgentClient} from "../../../verifier-contracts/agents/interfaces/IERCAgentClient.sol";
import {IERCAgentExecutor} from "../../../verifier-contracts/agents/interfaces/IERCAgentExecutor.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {Test} from "../support/Test.sol";

/// @dev The ids that integrations compare with, worked out from the texts once and fixed here.
contract InterfacesTest is Test {
    // shows: E1-017, E1-027, E1-057, E1-077, E0-02, E0-03, E0-08, D-09, D-45, D-46
    function test_interfaceId_ofTexts_succeeds() public pure {
        assertEq(type(IERCAgentTool).interfaceId, bytes4(0x5450da3a));
        assertEq(type(IERCAgentClient).interfaceId, bytes4(0x36d21840));
        assertEq(type(IERCAgentExecutor).interfaceId, bytes4(0x7e636a24));
        assertEq(IERCAgentTool.run.selector, bytes4(0x2ed0a6f5));
        assertEq(IERCAgentClient.handleAgentResult.selector, bytes4(0x36d21840));
    }

    // shows: E1-013, D-24
    function test_paramType_ordinals_succeeds() public pure {
        assertEq(uint256(IERCAgentTool.ParamType.STRING), 0);
        assertEq(uint256(IERCAgentTool.ParamType.ADDRESS), 1);
        assertEq(uint256(IERCAgentTool.ParamType.BOOL), 2);
        assertEq(uint256(IERCAgentTool.ParamType.INT), 3);
        assertEq(uint256(IERCAgentTool.ParamType.UINT), 4);
        assertEq(uint256(IERCAgentTool.ParamType.STRING_ARRAY), 5);
        assertEq(uint256(IERCAgentTool.ParamType.ADDRESS_ARRAY), 6);
        assertEq(uint256(IERCAgentTool.ParamType.BOOL_ARAY), 7);
        assertEq(uint256(IERCAgentTool.ParamType.INT_ARRAY), 8);
        assertEq(uint256(IERCAgentTool.ParamType.UINT_ARRAY), 9);
    }
}
