// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {Test} from "../support/Test.sol";
import {Params} from "./support/Params.sol";

/// @dev One value of each type.
struct Values {
    string text;
    address account;
    bool flag;
    int256 number;
    uint256 amount;
    string[] texts;
    address[] accounts;
    bool[] flags;
    int256[] numbers;
    uint256[] amounts;
}

contract AgentInputTest is Test {
    // Outer frames, so that reverts can be expected.
    function encode(IERCAgentTool.ParamValue[] memory params) external pure returns (bytes memory) {
        return AgentInput.encode(params);
    }

    function requireMatches(IERCAgentTool.InputDescription memory d, IERCAgentTool.Input memory input)
        external
        pure
    {
        AgentInput.requireMatches(d, input);
    }

    function _params(Values memory v) private pure returns (IERCAgentTool.ParamValue[] memory params) {
        params = new IERCAgentTool.ParamValue[](10);
        params[0].value = abi.encode(v.text);
        params[1].value = abi.encode(v.account);
        params[2].value = abi.encode(v.flag);
        params[3].value = abi.encode(v.number);
        params[4].value = abi.encode(v.amount);
        params[5].value = abi.encode(v.texts);
        params[6].value = abi.encode(v.accounts);
        params[7].value = abi.encode(v.flags);
        params[8].value = abi.encode(v.numbers);
        params[9].value = abi.encode(v.amounts);
        for (uint8 i; i < 10; i++) {
            params[i].paramType = IERCAgentTool.ParamType(i);
        }
    }

    function _joint(Values memory v) private pure returns (bytes memory) {
        return abi.encode(
            v.text, v.account, v.flag, v.number, v.amount, v.texts, v.accounts, v.flags, v.numbers, v.amounts
        );
    }

    // shows: E1-019, E1-020, D-23
    function testFuzz_encode_allTypes_succeeds(Values memory v) public pure {
        assertEq(AgentInput.encode(_params(v)), _joint(v));
    }

    // shows: E1-020
    function testFuzz_isCanonical_ofEncoder_succeeds(Values memory v) public pure {
        IERCAgentTool.ParamValue[] memory params = _params(v);
        for (uint256 i; i < 10; i++) {
            assertTrue(AgentInput.isCanonical(params[i].paramType, params[i].value));
        }
        assertEq(abi.decode(params[0].value, (string)), v.text);
        assertEq(abi.decode(params[3].value, (int256)), v.number);
    }

    /// @dev Flipping any bit gives another value or no value, never the same one again.
    function testFuzz_isCanonical_oneBitOff_succeeds(Values memory v, uint256 which, uint256 bit)
        public
        view
    {
        IERCAgentTool.ParamValue memory param = _params(v)[which % 10];
        bytes32 before = keccak256(param.value);
        bit %= 8 * param.value.length;
        param.value[bit / 8] ^= bytes1(uint8(1 << bit % 8));
        if (!AgentInput.isCanonical(param.paramType, param.value)) return;
        // Whatever is still taken is what a standard encoder makes of it.
        assertNotEq(keccak256(this.reencode(param.paramType, param.value)), before);
        assertEq(this.reencode(param.paramType, param.value), param.value);
    }

    function reencode(IERCAgentTool.ParamType t, bytes memory value) external pure returns (bytes memory) {
        if (t == IERCAgentTool.ParamType.STRING) return abi.encode(abi.decode(value, (string)));
        if (t == IERCAgentTool.ParamType.ADDRESS) return abi.encode(abi.decode(value, (address)));
        if (t == IERCAgentTool.ParamType.BOOL) return abi.encode(abi.decode(value, (bool)));
        if (t == IERCAgentTool.ParamType.INT) return abi.encode(abi.decode(value, (int256)));
        if (t == IERCAgentTool.ParamType.UINT) return abi.encode(abi.decode(value, (uint256)));
        if (t == IERCAgentTool.ParamType.STRING_ARRAY) return abi.encode(abi.decode(value, (string[])));
        if (t == IERCAgentTool.ParamType.ADDRESS_ARRAY) return abi.encode(abi.decode(value, (address[])));
        if (t == IERCAgentTool.ParamType.BOOL_ARAY) return abi.encode(abi.decode(value, (bool[])));
        if (t == IERCAgentTool.ParamType.INT_ARRAY) return abi.encode(abi.decode(value, (int256[])));
        return abi.encode(abi.decode(value, (uint256[])));
    }

    /// @dev Random bytes of any length are read without a panic, and rarely are a value.
    function testFuzz_isCanonical_anyBytes_succeeds(bytes memory value, uint8 paramType) public view {
        IERCAgentTool.ParamType t = IERCAgentTool.ParamType(paramType % 10);
        if (AgentInput.isCanonical(t, value)) assertEq(this.reencode(t, value), value);
    }

    function _refuses(IERCAgentTool.ParamType t, bytes memory value) private {
        assertFalse(AgentInput.isCanonical(t, value));
        IERCAgentTool.ParamValue[] memory params = new IERCAgentTool.ParamValue[](1);
        params[0] = IERCAgentTool.ParamValue(t, value);
        vm.expectRevert(abi.encodeWithSelector(AgentInput.MalformedValue.selector, 0, t, value));
        this.encode(params);
    }

    function test_encode_malformed_reverts() public {
        _refuses(IERCAgentTool.ParamType.ADDRESS, abi.encode(uint256(1) << 160));
        _refuses(IERCAgentTool.ParamType.ADDRESS, abi.encodePacked(address(1)));
        _refuses(IERCAgentTool.ParamType.BOOL, abi.encode(2));
        _refuses(IERCAgentTool.ParamType.UINT, "");
        _refuses(IERCAgentTool.ParamType.UINT, abi.encode(1, 2));
        // Offset, length, padding, rest.
        _refuses(IERCAgentTool.ParamType.STRING, abi.encode(uint256(64), uint256(0), uint256(0)));
        _refuses(IERCAgentTool.ParamType.STRING, abi.encode(uint256(32), uint256(33), bytes32("a")));
        _refuses(IERCAgentTool.ParamType.STRING, abi.encode(uint256(32), type(uint256).max, bytes32("a")));
        _refuses(IERCAgentTool.ParamType.STRING, abi.encode(uint256(32), uint256(1), bytes32("ab")));
        _refuses(IERCAgentTool.ParamType.STRING, bytes.concat(abi.encode("a"), bytes32(0)));
        _refuses(IERCAgentTool.ParamType.UINT_ARRAY, abi.encode(uint256(32), uint256(2), uint256(1)));
        _refuses(IERCAgentTool.ParamType.UINT_ARRAY, abi.encode(uint256(32), type(uint256).max));
        _refuses(IERCAgentTool.ParamType.BOOL_ARAY, abi.encode(uint256(32), uint256(1), uint256(2)));
        _refuses(
            IERCAgentTool.ParamType.ADDRESS_ARRAY, abi.encode(uint256(32), uint256(1), uint256(1) << 160)
        );
        // Two texts of which one is said to lie where the other does.
        _refuses(
            IERCAgentTool.ParamType.STRING_ARRAY,
            abi.encode(uint256(32), uint256(2), uint256(64), uint256(64), uint256(0), uint256(0))
        );
        _refuses(IERCAgentTool.ParamType.STRING_ARRAY, abi.encode(uint256(32), uint256(1), uint256(32)));
    }

    // shows: E1-018
    function test_requireMatches_permuted_reverts() public {
        IERCAgentTool.InputDescription memory d =
            Params.describe(IERCAgentTool.ParamType.ADDRESS, IERCAgentTool.ParamType.UINT);
        this.requireMatches(d, Params.input(Params.account(address(7)), Params.number(8)));
        vm.expectRevert(
            abi.encodeWithSelector(
                AgentInput.WrongParamType.selector,
                0,
                IERCAgentTool.ParamType.UINT,
                IERCAgentTool.ParamType.ADDRESS
            )
        );
        this.requireMatches(d, Params.input(Params.number(8), Params.account(address(7))));
    }

    // shows: E1-018
    function test_requireMatches_count_reverts() public {
        IERCAgentTool.InputDescription memory d =
            Params.describe(IERCAgentTool.ParamType.ADDRESS, IERCAgentTool.ParamType.UINT);
        vm.expectRevert(abi.encodeWithSelector(AgentInput.WrongParamCount.selector, 1, 2));
        this.requireMatches(d, Params.input(Params.account(address(7))));
        vm.expectRevert(abi.encodeWithSelector(AgentInput.WrongParamCount.selector, 0, 2));
        this.requireMatches(d, Params.none());
    }

    // shows: E1-021, D-06
    function test_requireMatches_formsDisagree_reverts() public {
        IERCAgentTool.InputDescription memory d = Params.describe(IERCAgentTool.ParamType.UINT);
        IERCAgentTool.Input memory input = Params.input(Params.number(1));
        bytes32 right = keccak256(input.abiEncodedParams);
        input.abiEncodedParams = abi.encode(uint256(1_000_000));
        vm.expectRevert(
            abi.encodeWithSelector(
                AgentInput.EncodingMismatch.selector, keccak256(input.abiEncodedParams), right
            )
        );
        this.requireMatches(d, input);
    }

    // shows: E1-013
    function test_encode_typeTen_reverts() public {
        IERCAgentTool.ParamValue[] memory params = new IERCAgentTool.ParamValue[](1);
        params[0] = Params.number(1);
        bytes memory call = abi.encodeCall(this.encode, (params));
        // Selector, offset, length, offset of the first, then its type.
        call[4 + 3 * 32 + 31] = bytes1(uint8(9));
        (bool success, bytes memory why) = address(this).call(call);
        assertFalse(success);
        assertEq(bytes4(why), AgentInput.MalformedValue.selector, "9 is a type");
        call[4 + 3 * 32 + 31] = bytes1(uint8(10));
        (success, why) = address(this).call(call);
        assertFalse(success, "10 is no digit");
        assertEq(why.length, 0, "refused by the decoder");
    }

    function test_prompt_oneText_succeeds() public view {
        IERCAgentTool.Input memory input = AgentInput.prompt("deposit 10 ETH");
        assertEq(input.abiEncodedParams, abi.encode("deposit 10 ETH"));
        this.requireMatches(Params.describe(IERCAgentTool.ParamType.STRING), input);
    }
}
