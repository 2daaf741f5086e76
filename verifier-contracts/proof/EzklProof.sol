// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {FIRST_U16, FIRST_U32} from "../libraries/Memory.sol";
import {ModelWord} from "../libraries/ModelWord.sol";
import {Abi} from "../opcodes/codecs/Abi.sol";
import {Inputs} from "../opcodes/codecs/Inputs.sol";

/// @notice Proofs of float models by ezkl (Halo2 with KZG on BN254), key kind 2 (docs/PROTOCOL.md, Proofs).
/// @dev Calldata and return data hold the circuit's own fixed-point numbers, so every instance is one of them or of the
/// binding, as a field element: nothing is rounded here. The key fixes the verifier by its code, in which ezkl put the
/// verification key; the weights are in fixed columns, so they are part of it.
library EzklProof {
    uint8 internal constant KIND = 2;
    /// @dev Kind, code hash, inputs, outputs; the tensors behind them say how to read the numbers, for people.
    uint256 internal constant KEY_HEAD_BYTES = 41;
    /// @dev Signed 16-bit numbers of the binding.
    uint256 internal constant BINDING_ELEMENTS = 16;

    /// @dev Order of the scalar field of BN254.
    uint256 private constant ORDER =
        21888242871839275222246405745257275088548364400416034343698204186575808495617;
    /// @dev verifyProof(bytes,uint256[])
    uint256 private constant VERIFY = 0x1e8e1e13;
    uint256 private constant ADDRESS_BYTES = 20;
    uint256 private constant INT16S_PER_WORD = 16;

    /// @dev A call of the verifier while it is written. The first three come from the key.
    /// @param codeHash of the verifier @param inputs lanes of calldata @param outputs words of return data
    /// @param start of the call in memory @param size in bytes @param next where the next instance is written
    struct Call {
        bytes32 codeHash;
        uint256 inputs;
        uint256 outputs;
        uint256 start;
        uint256 size;
        uint256 next;
    }

    /// @notice True if bytes have a length that a key has.
    function isKeyLength(uint256 length) internal pure returns (bool) {
        return length >= KEY_HEAD_BYTES;
    }

    /// @notice True if the proof shows that the model's circuit maps `input` to `output`. Total on any bytes.
    /// @param key memory of a key of this kind and length @param binding what ties the proof to submitter and chain
    /// @param evidence address of a contract with the key's verifier code, then the proof
    function isTrue(
        ModelWord modelWord,
        uint256 key,
        uint256 binding,
        bytes calldata input,
        bytes calldata output,
        bytes calldata evidence
    ) internal view returns (bool) {
        if (evidence.length < ADDRESS_BYTES || !Inputs.isCanonical(modelWord, input)) {
            return false;
        }
        Call memory c;
        _readKey(c, key);
        if (c.inputs != modelWord.inputSize() || output.length != 32 * c.outputs) return false;
        if (address(bytes20(evidence)).codehash != c.codeHash) return false;
        _open(c, evidence[ADDRESS_BYTES:]);
        _int16s(c, input);
        _spread(c, binding, BINDING_ELEMENTS);
        return _words(c, output) && _accepts(c, address(bytes20(evidence)));
    }

    function _readKey(Call memory c, uint256 key) private pure {
        assembly ("memory-safe") {
            mstore(c, mload(add(key, 1)))
            mstore(add(c, 0x20), shr(FIRST_U32, mload(add(key, 33))))
            mstore(add(c, 0x40), shr(FIRST_U32, mload(add(key, 37))))
        }
    }

    /// @dev Calldata of verifyProof up to its instances, which follow.
    function _open(Call memory c, bytes calldata proof) private pure {
        unchecked {
            uint256 padded = (proof.length + 31) & ~uint256(31);
            uint256 count = c.inputs + BINDING_ELEMENTS + c.outputs;
            c.size = 4 + 32 * (4 + count) + padded;
            // The selector is the end of a word, so that all other words are aligned.
            uint256 start = Inputs.allocate(c.size + 28) + 28;
            uint256 next;
            assembly ("memory-safe") {
                mstore(sub(start, 28), VERIFY)
                let head := add(start, 4)
                mstore(head, 0x40)
                mstore(add(head, 0x20), add(0x60, padded))
                mstore(add(head, 0x40), proof.length)
                calldatacopy(add(head, 0x60), proof.offset, proof.length)
                next := add(add(head, 0x60), padded)
                mstore(next, count)
            }
            (c.start, c.next) = (start, next + 32);
        }
    }

    /// @dev Writes the lanes of canonical calldata as instances.
    function _int16s(Call memory c, bytes calldata input) private pure {
        unchecked {
            uint256 from = Abi.SELECTOR_BYTES + Abi.HEAD_BYTES;
            uint256 left = c.inputs;
            while (left != 0) {
                uint256 taken = left < INT16S_PER_WORD ? left : INT16S_PER_WORD;
                uint256 word;
                assembly ("memory-safe") {
                    word := calldataload(add(input.offset, from))
                }
                _spread(c, word, taken);
                from += 32;
                left -= taken;
            }
        }
    }

    /// @dev Writes signed 16-bit numbers from the top of a word as field elements: -x is ORDER - x.
    function _spread(Call memory c, uint256 word, uint256 count) private pure {
        uint256 next = c.next;
        assembly ("memory-safe") {
            for { let end := add(next, shl(5, count)) } lt(next, end) { next := add(next, 0x20) } {
                let x := sar(FIRST_U16, word)
                mstore(next, add(x, mul(ORDER, slt(x, 0))))
                word := shl(16, word)
            }
        }
        c.next = next;
    }

    /// @dev Writes return data as instances.
    /// @return canonical false if a word leaves 128 bits: x and x + ORDER would be one field element
    function _words(Call memory c, bytes calldata output) private pure returns (bool canonical) {
        uint256 next = c.next;
        assembly ("memory-safe") {
            let wrong := 0
            let end := add(output.offset, output.length)
            for { let from := output.offset } lt(from, end) { from := add(from, 0x20) } {
                let x := calldataload(from)
                wrong := or(wrong, xor(x, signextend(15, x)))
                mstore(next, add(x, mul(ORDER, slt(x, 0))))
                next := add(next, 0x20)
            }
            canonical := iszero(wrong)
        }
    }

    function _accepts(Call memory c, address verifier) private view returns (bool accepted) {
        (uint256 start, uint256 size) = (c.start, c.size);
        assembly ("memory-safe") {
            let ok := staticcall(gas(), verifier, start, size, 0, 0x20)
            accepted := and(and(ok, eq(returndatasize(), 0x20)), eq(mload(0), 1))
        }
    }
}
