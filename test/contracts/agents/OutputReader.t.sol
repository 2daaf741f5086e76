// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {OutputReads} from "../support/OutputReads.sol";
import {Test} from "../support/Test.sol";
import {OutputReader} from "verifier-contracts/agents/libraries/OutputReader.sol";

contract OutputReaderTest is Test {
    event log_named_uint(string key, uint256 value);

    OutputReads private reads = new OutputReads();

    bytes private sentiment = abi.encode(int256(2), int256(-12000), int256(3000), int256(29000));

    function test_label_sentiment_succeeds() public view {
        assertEq(reads.label(sentiment, 0, 3), 2);
        (uint256 class, uint256 margin) = reads.top(sentiment, 1, 3);
        assertEq(class, 2);
        assertEq(margin, 26000);
        // exp(-41000/4096) + exp(-26000/4096) + 1, and one over it
        assertEq(reads.probability(sentiment, 1, 3, 2, 4096), 0.99820741452816805e18);
    }

    function test_fixedPoint_quantile_succeeds() public view {
        bytes memory forecast = abi.encode(int256(-87012), int256(-11049), int256(90999));
        assertEq(reads.number(forecast, 0), -87012);
        assertEq(reads.fixedPoint(reads.number(forecast, 0), 1e6), -0.087012e18);
        assertEq(reads.fixedPoint(-1, 3e18), 0);
    }

    function testFuzz_label_unknown_reverts(int256 class, uint8 classes) public {
        vm.assume(class < 0 || uint256(class) >= classes);
        vm.expectRevert(abi.encodeWithSelector(OutputReader.UnknownClass.selector, class, classes));
        reads.label(abi.encode(class), 0, classes);
    }

    function testFuzz_number_beyondTheEnd_reverts(bytes memory output, uint256 place) public {
        place = bound(place, output.length / 32, type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(OutputReader.OutputTooShort.selector, output.length, place));
        reads.number(output, place);
    }

    function testFuzz_int16Number_beyondTheEnd_reverts(bytes memory output, uint256 place) public {
        uint256 held = output.length < 64 ? 0 : (output.length - 64) / 2;
        place = bound(place, held, type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(OutputReader.OutputTooShort.selector, output.length, place));
        reads.int16Number(output, place);
    }

    function testFuzz_probability_scale_reverts(uint256 scale) public {
        scale = scale & 1 == 0 ? 0 : bound(scale, 1 << 128, type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(OutputReader.InvalidScale.selector, scale));
        reads.probability(sentiment, 1, 3, 2, scale);
    }

    function testFuzz_probability_classOutside_reverts(uint256 class) public {
        class = bound(class, 3, type(uint256).max);
        vm.expectRevert(abi.encodeWithSelector(OutputReader.NoSuchScore.selector, class, 3));
        reads.probability(sentiment, 1, 3, class, 4096);
    }

    /// @dev Scores may be any words: the sum of all is 1, up to what each is cut by.
    function testFuzz_probability_sum_succeeds(int256[4] memory scores, uint128 scale) public view {
        vm.assume(scale != 0);
        uint256[] memory each = reads.probabilities(abi.encode(scores), 0, 4, scale);
        uint256 sum;
        for (uint256 i; i < 4; ++i) {
            sum += each[i];
        }
        assertLe(sum, 1e18);
        assertGe(sum, 1e18 - 8);
    }

    function testFuzz_top_margin_succeeds(int256[5] memory scores) public view {
        (uint256 class, uint256 margin) = reads.top(abi.encode(scores), 0, 5);
        uint256 least = type(uint256).max;
        for (uint256 i; i < 5; ++i) {
            assertTrue(scores[i] < scores[class] || (scores[i] == scores[class] && i >= class));
            uint256 behind;
            unchecked {
                behind = uint256(scores[class]) - uint256(scores[i]);
            }
            if (i != class && behind < least) least = behind;
        }
        assertEq(margin, least);
    }

    /// @notice Gas inside a contract, printed.
    function test_gas_sentiment_succeeds() public {
        bytes memory output = sentiment;
        uint256 start = gasleft();
        OutputReader.label(output, 0, 3);
        uint256 labelled = gasleft();
        OutputReader.top(output, 1, 3);
        uint256 topped = gasleft();
        OutputReader.probability(output, 1, 3, 2, 4096);
        uint256 end = gasleft();
        emit log_named_uint("label", start - labelled);
        emit log_named_uint("top of 3", labelled - topped);
        emit log_named_uint("probability of 3", topped - end);
        assertLe(topped - end, 15000);
    }
}
