// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {
    SentimentResultConverter
} from "../../../verifier-contracts/agents/model/SentimentResultConverter.sol";
import {Test} from "../support/Test.sol";

contract SentimentResultConverterTest is Test {
    SentimentResultConverter private converter = new SentimentResultConverter();

    function test_convertToString_eachLabel_succeeds() public view {
        assertEq(_said(0, 7, -1, 0), "The sentiment is bearish (scores: bearish 7, neutral -1, bullish 0)");
        assertEq(_said(1, -5, 3, 2), "The sentiment is neutral (scores: bearish -5, neutral 3, bullish 2)");
        assertEq(_said(2, 1, 2, 3), "The sentiment is bullish (scores: bearish 1, neutral 2, bullish 3)");
    }

    function testFuzz_convertToString_unknownLabel_reverts(int256 label) public {
        vm.assume(label < 0 || label > 2);
        vm.expectRevert(abi.encodeWithSelector(SentimentResultConverter.UnknownLabel.selector, label));
        converter.convertToString(abi.encode(label, int256(0), int256(0), int256(0)));
    }

    function _said(int256 label, int256 bearish, int256 neutral, int256 bullish)
        private
        view
        returns (string memory)
    {
        return converter.convertToString(abi.encode(label, bearish, neutral, bullish));
    }
}
