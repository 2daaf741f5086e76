// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {IEzklVerifiers} from "../../../verifier-contracts/interfaces/IEzklVerifiers.sol";
import {EzklFixture} from "./EzklFixture.sol";
import {StrictVerifier} from "./StrictVerifier.sol";
import {YesVerifier} from "./YesVerifier.sol";

contract EzklProofTest is EzklFixture {
    uint256 private constant HEAD = 68;

    function test_isTrue_rightOutput_succeeds() public view {
        Statement memory s = _right();
        uint256 gasBefore = gasleft();
        assertTrue(_accepts(s));
        assertLt(gasBefore - gasleft(), 1_100_000, "gas");
    }

    /// @dev Every element of the output, one unit in each direction.
    function test_isTrue_anyOtherOutput_succeeds() public view {
        Statement memory s = _right();
        for (uint256 i = 0; i < outputs; ++i) {
            uint256 place = 32 * i;
            int256 value = int256(_wordAt(s.output, place));
            int256 wrong = i % 2 == 0 ? value + 1 : value - 1;
            _setWord(s.output, place, uint256(wrong));
            assertTrue(!_accepts(s), "a wrong output");
            _setWord(s.output, place, uint256(value));
        }
        assertTrue(_accepts(s), "restored");
    }

    /// @dev Another word with the same field element would be a second truth, and halt the lane.
    function test_isTrue_sameFieldElement_succeeds() public view {
        Statement memory s = _right();
        int256 value = int256(_wordAt(s.output, 0));
        int256[4] memory aliases = [
            value + int256(ORDER), value - int256(ORDER), value + 2 * int256(ORDER), value - 2 * int256(ORDER)
        ];
        for (uint256 i = 0; i < aliases.length; ++i) {
            _setWord(s.output, 0, uint256(aliases[i]));
            assertTrue(!_accepts(s), "an alias");
        }
    }

    /// forge-config: default.fuzz.runs = 256
    /// forge-config: change.fuzz.runs = 256
    function testFuzz_isTrue_otherOutput_succeeds(uint256 index, uint256 word) public view {
        Statement memory s = _right();
        uint256 place = 32 * bound(index, 0, outputs - 1);
        if (word == _wordAt(s.output, place)) return;
        _setWord(s.output, place, word);
        assertTrue(!_accepts(s), "a wrong output");
    }

    /// @dev A bit in each word of lanes.
    function test_isTrue_otherInput_succeeds() public view {
        Statement memory s = _right();
        for (uint256 place = HEAD; place < s.input.length; place += 33) {
            _flip(s.input, place, place % 8);
            assertTrue(!_accepts(s), "another input");
            _flip(s.input, place, place % 8);
        }
    }

    function test_isTrue_inputNotCanonical_succeeds() public view {
        Statement memory s = _right();
        s.input = bytes.concat(s.input, hex"00");
        assertTrue(!_accepts(s), "longer");
        s = _right();
        _flip(s.input, 0, 0);
        assertTrue(!_accepts(s), "another selector");
        s.input = hex"556b";
        assertTrue(!_accepts(s), "short");
        s.input = "";
        assertTrue(!_accepts(s), "none");
    }

    function test_isTrue_otherOutputLength_succeeds() public view {
        Statement memory s = _right();
        s.output = bytes.concat(s.output, new bytes(32));
        assertTrue(!_accepts(s), "a word more");
        s.output = new bytes(32 * (outputs - 1));
        assertTrue(!_accepts(s), "a word less");
        s.output = new bytes(32 * outputs - 1);
        assertTrue(!_accepts(s), "a byte less");
    }

    /// @dev Another submitter, chain, adapter or model is another binding.
    function test_isTrue_otherBinding_succeeds() public view {
        Statement memory s = _right();
        for (uint256 bit = 0; bit < 256; bit += 5) {
            s.binding ^= 1 << bit;
            assertTrue(!_accepts(s), "another binding");
            s.binding ^= 1 << bit;
        }
    }

    function test_isTrue_tamperedProof_succeeds() public view {
        Statement memory s = _right();
        for (uint256 place = 20; place < s.evidence.length; place += 31) {
            _flip(s.evidence, place, place % 8);
            assertTrue(!_accepts(s), "a tampered proof");
            _flip(s.evidence, place, place % 8);
        }
    }

    function test_isTrue_otherProofLength_succeeds() public view {
        Statement memory s = _right();
        bytes memory whole = s.evidence;
        s.evidence = bytes.concat(whole, hex"00");
        assertTrue(!_accepts(s), "longer");
        s.evidence = this.head(whole, whole.length - 1);
        assertTrue(!_accepts(s), "shorter");
        s.evidence = this.head(whole, 20);
        assertTrue(!_accepts(s), "no proof");
        s.evidence = this.head(whole, 19);
        assertTrue(!_accepts(s), "no address");
        s.evidence = "";
        assertTrue(!_accepts(s), "nothing");
    }

    function head(bytes calldata all, uint256 length) external pure returns (bytes memory) {
        return all[:length];
    }

    /// @dev What counts is the code at the address, not who put it there.
    function test_isTrue_verifierElsewhere_succeeds() public {
        Statement memory s = _right();
        address copy = address(0xC0DE);
        vm.etch(copy, verifier.code);
        s.evidence = _evidence(copy);
        assertTrue(_accepts(s));
    }

    function test_isTrue_lyingVerifier_succeeds() public {
        Statement memory s = _right();
        s.evidence = _evidence(address(new YesVerifier()));
        assertTrue(!_accepts(s), "other code");
        s.evidence = _evidence(address(0xBEEF));
        assertTrue(!_accepts(s), "no account");
        s.evidence = _evidence(address(2));
        assertTrue(!_accepts(s), "a precompile");
        // An account's delegation (EIP-7702) has a code hash of its own, whatever it points to.
        vm.etch(address(0xDE1E), abi.encodePacked(hex"ef0100", verifier));
        s.evidence = _evidence(address(0xDE1E));
        assertTrue(!_accepts(s), "a delegation");
    }

    /// @dev What the verifier is asked is standard calldata, whatever the proof's length; an empty proof is the verifier's to
    /// judge, too.
    function test_isTrue_calldata_succeeds() public {
        Statement memory s = _right();
        address strict = address(new StrictVerifier());
        bytes32 codeHash = strict.codehash;
        bytes memory key = s.key;
        assembly ("memory-safe") {
            mstore(add(key, 33), codeHash)
        }
        bytes memory proof = new bytes(100);
        for (uint256 length = 0; length <= 100; ++length) {
            if (length != 0) proof[length - 1] = bytes1(uint8(length));
            s.evidence = bytes.concat(bytes20(strict), this.head(proof, length));
            assertTrue(_accepts(s), "calldata of a standard encoder");
        }
    }

    /// @dev Moving a number from one side to the other would prove another statement with the same public values.
    function test_isTrue_otherCounts_succeeds() public view {
        Statement memory s = _right();
        s.key = _withCounts(s.key, inputs + 1, outputs - 1);
        assertTrue(!_accepts(s), "key against word");
        s.modelWord = _word(inputs, outputs + 1);
        s.key = _withCounts(s.key, inputs, outputs + 1);
        s.output = bytes.concat(s.output, new bytes(32));
        assertTrue(!_accepts(s), "more instances than the circuit has");
    }

    /// @dev The verifier runs out of gas: that is no proof, and no revert either.
    function test_isTrue_littleGas_succeeds() public view {
        Statement memory s = _right();
        assertTrue(
            !caller.isTrue{gas: 500_000}(s.modelWord, s.key, s.binding, s.input, s.output, s.evidence), "gas"
        );
    }

    function test_create_addressOfItsCode_succeeds() public {
        bytes memory initCode = vm.parseJsonBytes(vector, ".initCode");
        assertEq(verifiers.addressOf(keccak256(initCode)), verifier);
        assertEq(verifiers.create(initCode), verifier, "again");
        bytes memory key = _right().key;
        bytes32 codeHash;
        assembly {
            codeHash := mload(add(key, 33))
        }
        assertEq(verifier.codehash, codeHash);
    }

    function test_create_revertingInitCode_reverts() public {
        vm.expectRevert(abi.encodeWithSelector(IEzklVerifiers.VerifierNotCreated.selector, 3));
        verifiers.create(hex"5f5ffd");
        vm.expectRevert(abi.encodeWithSelector(IEzklVerifiers.VerifierNotCreated.selector, 0));
        verifiers.create("");
    }

    function _withCounts(bytes memory key, uint32 lanes, uint32 words)
        private
        pure
        returns (bytes memory changed)
    {
        changed = bytes.concat(key);
        for (uint256 i = 0; i < 4; ++i) {
            changed[33 + i] = bytes4(lanes)[i];
            changed[37 + i] = bytes4(words)[i];
        }
    }

    function _wordAt(bytes memory data, uint256 place) private pure returns (uint256 word) {
        assembly {
            word := mload(add(add(data, 32), place))
        }
    }

    function _setWord(bytes memory data, uint256 place, uint256 word) private pure {
        assembly {
            mstore(add(add(data, 32), place), word)
        }
    }
}
