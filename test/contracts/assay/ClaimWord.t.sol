// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {
    CLAIM_ACTIVE,
    CLAIM_FALLEN,
    CLAIM_FINAL,
    ClaimWord,
    activeClaim
} from "../../../verifier-contracts/libraries/ClaimWord.sol";
import {Fall} from "../../../verifier-contracts/types/Types.sol";
import {Test} from "../support/Test.sol";

/// @notice A claim's word by itself: the bits that docs/PROTOCOL.md, section 2 publishes, and the second that ends it.
contract ClaimWordTest is Test {
    function testFuzz_claimWord_fields_succeeds(uint256 bits) public pure {
        ClaimWord word = ClaimWord.wrap(bits);
        assertEq(word.windowEnd(), bits & 0xffffffffff);
        assertEq(word.lastEvent(), bits >> 40 & 0xffffffffff);
        assertEq(word.hardEnd(), bits >> 80 & 0xffffffffff);
        assertEq(word.traceDeadline(), bits >> 120 & 0xffffffffff);
        assertEq(word.tickets(), bits >> 160 & 0xffffffff);
        assertEq(word.pending(), bits >> 192 & 0xffffffff);
        assertEq(word.status(), bits >> 224 & 0xff);
        assertEq(word.depth(), bits >> 240 & 0xff);
        assertEq(word.takers(), word.tickets() + (bits >> 248 & 1));
    }

    /// @dev T after the last event and one second more, not after hardEnd, not before the window's end.
    function testFuzz_finalAt_earliest_succeeds(uint40 last, uint16 t, uint24 hard, int24 end, uint40 due)
        public
        pure
    {
        uint256 lastEvent = uint256(last) + 2 ** 24;
        uint256 hardEnd = lastEvent + hard % (3 * uint256(t) + 3);
        uint256 windowEnd = uint256(int256(lastEvent) + end % (4 * int256(uint256(t)) + 4));
        vm.assume(hardEnd < 2 ** 40 && windowEnd < 2 ** 40);
        ClaimWord word = activeClaim(windowEnd, 3);
        word = ClaimWord.wrap(ClaimWord.unwrap(word) | lastEvent << 40 | hardEnd << 80 | uint256(due) << 120);
        uint256 expected = lastEvent + t + 1;
        if (expected > hardEnd) expected = hardEnd;
        if (expected < windowEnd) expected = windowEnd;
        assertEq(word.finalAt(t), expected);
        assertEq(word.status(), CLAIM_ACTIVE);
        assertTrue(word.isFinal(t, expected), "at that second");
        assertTrue(!word.isFinal(t, expected - 1), "a second before");
        assertTrue(!word.owing().isFinal(t, expected), "with an answer owed");
    }

    /// @dev The end changes the state, the reason and the share of a truth's submitter, and no other bit.
    function testFuzz_fallen_keepsTheRest_succeeds(uint256 bits, uint8 which) public pure {
        uint256 rest = bits & ~(uint256(0x1ffffff) << 224) | bits & uint256(0xff) << 240;
        ClaimWord word = ClaimWord.wrap(rest | uint256(CLAIM_ACTIVE) << 224);
        assertEq(ClaimWord.unwrap(word.finalized()), rest | uint256(CLAIM_FINAL) << 224);
        Fall reason = Fall(which % (uint8(type(Fall).max) + 1));
        uint256 fell = rest | uint256(CLAIM_FALLEN) << 224 | uint256(reason) << 232;
        if (reason == Fall.TRUTH) fell |= 1 << 248;
        assertEq(ClaimWord.unwrap(word.fallen(reason)), fell);
    }
}
