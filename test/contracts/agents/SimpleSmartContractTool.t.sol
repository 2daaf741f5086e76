// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {CallerListedTool} from "../../../verifier-contracts/agents/CallerListedTool.sol";
import {SimpleSmartContractTool} from "../../../verifier-contracts/agents/SimpleSmartContractTool.sol";
import {ToolMetadata} from "../../../verifier-contracts/agents/ToolMetadata.sol";
import {IERCAgentTool} from "../../../verifier-contracts/agents/interfaces/IERCAgentTool.sol";
import {ToolResultConverter} from "../../../verifier-contracts/agents/interfaces/ToolResultConverter.sol";
import {AgentInput} from "../../../verifier-contracts/agents/libraries/AgentInput.sol";
import {Conversion} from "../../../verifier-contracts/agents/libraries/Conversion.sol";
import {
    ViewBalanceResultConverter
} from "../../../verifier-contracts/examples/wallet/ViewBalanceResultConverter.sol";
import {Test} from "../support/Test.sol";
import {Params} from "./support/Params.sol";
import {WrappedEther} from "./support/TestTokens.sol";
import {Ledger} from "./support/TestTools.sol";
import {BadConverter, WordsConverter} from "./support/WordsConverter.sol";

contract SimpleSmartContractToolTest is Test {
    Ledger private ledger;
    WordsConverter private words;
    address private immutable alice = makeAddr("alice");

    function setUp() public {
        ledger = new Ledger();
        words = new WordsConverter();
    }

    function _addressAndAmount() private pure returns (IERCAgentTool.InputDescription memory) {
        return Params.describe(IERCAgentTool.ParamType.ADDRESS, IERCAgentTool.ParamType.UINT);
    }

    function _static(bytes4 selector) private returns (SimpleSmartContractTool) {
        return new SimpleSmartContractTool(
            "AddTool",
            "adds",
            address(ledger),
            selector,
            _addressAndAmount(),
            true,
            "Successfully added",
            ToolResultConverter(address(0))
        );
    }

    function _converted(
        address target,
        bytes4 selector,
        IERCAgentTool.InputDescription memory d,
        ToolResultConverter c
    ) private returns (SimpleSmartContractTool) {
        return new SimpleSmartContractTool("ReadTool", "reads", target, selector, d, false, "", c);
    }

    function _input(uint256 amount) private view returns (IERCAgentTool.Input memory) {
        return Params.input(Params.account(alice), Params.number(amount));
    }

    // shows: E1-082
    function test_convertToString_selector_succeeds() public pure {
        assertEq(ToolResultConverter.convertToString.selector, bytes4(0xc4154330));
    }

    // shows: E1-025, E1-083, E1-084, D-32
    function test_constructor_getters_succeeds() public {
        SimpleSmartContractTool tool = _static(Ledger.add.selector);
        assertEq(tool.name(), "AddTool");
        assertEq(tool.description(), "adds");
        assertEq(tool.toolContract(), address(ledger));
        assertEq(tool.toolSelector(), Ledger.add.selector);
        assertTrue(tool.useStaticResult());
        assertEq(tool.staticResult(), "Successfully added");
        assertEq(address(tool.toolResultConverter()), address(0));
        assertEq(abi.encode(tool.inputDescription()), abi.encode(_addressAndAmount()));
        assertEq(tool.version(), "1.0.0");
        assertTrue(tool.supportsInterface(0x5450da3a));
        assertFalse(tool.supportsInterface(0xffffffff));
    }

    // shows: D-04, D-32, E1-024, E1-026
    function test_constructor_refused_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(ToolMetadata.NoCode.selector, alice));
        _converted(alice, Ledger.sum.selector, _addressAndAmount(), words);
        vm.expectRevert(abi.encodeWithSelector(ToolMetadata.NoCode.selector, address(0)));
        _converted(address(ledger), Ledger.sum.selector, _addressAndAmount(), ToolResultConverter(address(0)));
        IERCAgentTool.InputDescription memory d = _addressAndAmount();
        d.paramDescriptions[1].description = "";
        address next = vm.computeCreateAddress(address(this), vm.getNonce(address(this)));
        vm.expectRevert(abi.encodeWithSelector(ToolMetadata.EmptyText.selector, next));
        _converted(address(ledger), Ledger.sum.selector, d, words);
    }

    // shows: E1-085, E1-087, E0-11, D-02, D-52
    function testFuzz_run_exactArguments_succeeds(address account, uint128 amount) public {
        vm.assume(amount != 13);
        SimpleSmartContractTool tool = _static(Ledger.add.selector);
        IERCAgentTool.Input memory input = Params.input(Params.account(account), Params.number(amount));
        vm.expectCall(address(ledger), abi.encodeCall(Ledger.add, (account, amount)));
        (int256 runId, string memory result) = tool.run(input, address(0));
        assertEq(runId, -1);
        assertEq(result, "Successfully added");
        assertEq(ledger.lastAccount(), account);
        assertEq(ledger.lastAmount(), amount);
    }

    // shows: E1-028, E1-088
    function test_run_converted_succeeds() public {
        IERCAgentTool.InputDescription memory d =
            Params.describe(IERCAgentTool.ParamType.UINT, IERCAgentTool.ParamType.UINT);
        SimpleSmartContractTool tool = _converted(address(ledger), Ledger.sum.selector, d, words);
        (int256 runId, string memory result) =
            tool.run(Params.input(Params.number(20), Params.number(22)), address(0));
        assertEq(runId, -1);
        assertEq(result, "42");
    }

    // shows: E1-090, E0-06
    function test_run_foreignToken_succeeds() public {
        WrappedEther token = new WrappedEther();
        token.deposit{value: 5}();
        IERCAgentTool.InputDescription memory d = Params.describe(IERCAgentTool.ParamType.ADDRESS);
        SimpleSmartContractTool reads =
            _converted(address(token), token.balanceOf.selector, d, new ViewBalanceResultConverter());
        (, string memory result) = reads.run(Params.input(Params.account(address(this))), address(0));
        assertEq(result, "The balance is: 5");
        SimpleSmartContractTool sends = new SimpleSmartContractTool(
            "TransferTool",
            "transfers",
            address(token),
            token.transfer.selector,
            _addressAndAmount(),
            true,
            "Sent",
            ToolResultConverter(address(0))
        );
        token.transfer(address(sends), 3);
        (, result) = sends.run(_input(2), address(0));
        assertEq(result, "Sent");
        assertEq(token.balanceOf(alice), 2);
    }

    // shows: E1-086, D-35
    function test_run_targetReverts_reverts() public {
        SimpleSmartContractTool tool = _static(Ledger.add.selector);
        bytes memory inner = abi.encodeWithSelector(Ledger.Refused.selector, 13);
        IERCAgentTool.Input memory input = _input(13);
        vm.expectRevert(
            abi.encodeWithSelector(
                SimpleSmartContractTool.CallFailed.selector, address(ledger), Ledger.add.selector, inner
            )
        );
        tool.run(input, address(0));
    }

    // shows: E1-086, D-04
    function test_run_targetVanished_reverts() public {
        SimpleSmartContractTool tool = _static(Ledger.add.selector);
        vm.etch(address(ledger), "");
        IERCAgentTool.Input memory input = _input(1);
        vm.expectRevert(abi.encodeWithSelector(ToolMetadata.NoCode.selector, address(ledger)));
        tool.run(input, address(0));
    }

    // shows: D-05
    function test_run_false_reverts() public {
        SimpleSmartContractTool tool = _static(Ledger.tryAdd.selector);
        (, string memory result) = tool.run(_input(1), address(0));
        assertEq(result, "Successfully added");
        ledger.setAnswer(false);
        IERCAgentTool.Input memory input = _input(1);
        vm.expectRevert(
            abi.encodeWithSelector(
                SimpleSmartContractTool.NotSuccessful.selector,
                address(ledger),
                Ledger.tryAdd.selector,
                abi.encode(false)
            )
        );
        tool.run(input, address(0));
    }

    // shows: E1-021, E1-033, D-06
    function test_run_formsDisagree_reverts() public {
        SimpleSmartContractTool tool = _static(Ledger.add.selector);
        IERCAgentTool.Input memory input = _input(1);
        bytes32 right = keccak256(input.abiEncodedParams);
        input.abiEncodedParams = _input(1_000_000).abiEncodedParams;
        vm.expectRevert(
            abi.encodeWithSelector(
                AgentInput.EncodingMismatch.selector, keccak256(input.abiEncodedParams), right
            )
        );
        tool.run(input, address(0));
        assertEq(ledger.total(), 0);
    }

    // shows: D-25
    function test_run_intForUint_reverts() public {
        SimpleSmartContractTool tool = _static(Ledger.add.selector);
        IERCAgentTool.Input memory input = Params.input(
            Params.account(alice),
            IERCAgentTool.ParamValue(IERCAgentTool.ParamType.INT, abi.encode(int256(-1)))
        );
        vm.expectRevert(
            abi.encodeWithSelector(
                AgentInput.WrongParamType.selector,
                1,
                IERCAgentTool.ParamType.INT,
                IERCAgentTool.ParamType.UINT
            )
        );
        tool.run(input, address(0));
    }

    // shows: D-34
    function test_run_badConverter_reverts() public {
        IERCAgentTool.InputDescription memory d =
            Params.describe(IERCAgentTool.ParamType.UINT, IERCAgentTool.ParamType.UINT);
        BadConverter bad = new BadConverter(BadConverter.Mood.REVERT);
        SimpleSmartContractTool tool = _converted(address(ledger), Ledger.sum.selector, d, bad);
        IERCAgentTool.Input memory input = Params.input(Params.number(1), Params.number(2));
        vm.expectRevert(
            abi.encodeWithSelector(
                Conversion.ConversionFailed.selector,
                bad,
                abi.encodeWithSelector(BadConverter.NoWords.selector)
            )
        );
        tool.run(input, address(0));
        // One that would write is called by STATICCALL.
        bad = new BadConverter(BadConverter.Mood.WRITE);
        tool = _converted(address(ledger), Ledger.sum.selector, d, bad);
        vm.expectRevert(abi.encodeWithSelector(Conversion.ConversionFailed.selector, bad, bytes("")));
        tool.run{gas: 1_000_000}(input, address(0));
        assertEq(bad.written(), 0);
    }

    // shows: E1-091, D-36
    function test_run_callerNotListed_reverts() public {
        address[] memory callers = new address[](1);
        callers[0] = alice;
        CallerListedTool tool = new CallerListedTool(
            "AddTool",
            "adds",
            address(ledger),
            Ledger.add.selector,
            _addressAndAmount(),
            true,
            "Successfully added",
            ToolResultConverter(address(0)),
            callers
        );
        IERCAgentTool.Input memory input = _input(1);
        vm.expectRevert(abi.encodeWithSelector(CallerListedTool.CallerNotListed.selector, address(this)));
        tool.run(input, address(0));
        vm.prank(alice);
        tool.run(input, address(0));
        assertEq(ledger.total(), 1);
    }
}
