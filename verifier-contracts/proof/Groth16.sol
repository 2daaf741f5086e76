// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {COORDINATES} from "../libraries/Coordinate.sol";
import {Inputs} from "../opcodes/codecs/Inputs.sol";

/// @notice Verifies Groth16 proofs over BN254, one or many of one key (docs/PROTOCOL.md, Proofs), by the precompiles of
/// EIP-196 and EIP-197: they refuse coordinates that are not below the order, and points outside the curve or group.
/// @dev Many proofs are one product of pairings: each equation is raised to a random power of its own, so that a product of
/// wrong ones is 1 with a chance of 2^-128; pairings with the key's points are shared.
library Groth16 {
    uint8 internal constant KIND = 1;
    /// @dev Kind and origin.
    uint256 private constant KEY_HEAD_BYTES = 2;
    /// @dev alpha in G1, beta, gamma and delta in G2; behind them a point of G1 for 1 and for each signal.
    uint256 private constant KEY_FIXED_BYTES = 448;
    uint256 private constant POINT_BYTES = 64;
    uint256 private constant PAIR_BYTES = 192;
    uint256 private constant PROOF_BYTES = 256;

    /// @dev Orders of the scalar and of the base field of BN254.
    uint256 private constant SCALARS =
        21888242871839275222246405745257275088548364400416034343698204186575808495617;
    uint256 private constant COORDINATES =
        21888242871839275222246405745257275088696311157297823662689037894645226208583;

    uint256 private constant EC_ADD = 6;
    uint256 private constant EC_MUL = 7;
    uint256 private constant EC_PAIRING = 8;

    /// @notice A product of pairings that grows proof by proof.
    /// @param key memory of the key's points @param pairs memory of what the pairing precompile takes
    /// @param next where the next proof's pair is written @param c memory of the sum of the proofs' points C
    /// @param total of the coefficients @param sums of each signal times its proof's coefficient
    struct Product {
        uint256 key;
        uint256 pairs;
        uint256 next;
        uint256 c;
        uint256 total;
        uint256[] sums;
    }

    /// @notice Bytes of a key for this number of signals.
    function keyLength(uint256 signals) internal pure returns (uint256) {
        return KEY_HEAD_BYTES + KEY_FIXED_BYTES + POINT_BYTES * (signals + 1);
    }

    /// @param key memory of a key of the right kind and length @param proofs number of proofs to come
    function begin(uint256 key, uint256 signals, uint256 proofs) internal pure returns (Product memory p) {
        unchecked {
            p.sums = new uint256[](signals);
            p.pairs = Inputs.allocate((proofs + 3) * PAIR_BYTES);
            p.next = p.pairs;
            // And behind it room for the next proof's point C and its coefficient.
            p.c = Inputs.allocate(2 * POINT_BYTES + 32);
            p.key = key + KEY_HEAD_BYTES;
        }
    }

    /// @notice Adds a proof. @param coefficient random, and 1 for the first proof @param proof A, B and C
    /// @param signals SAFETY: below the order, or they would stand for others. PublicSignals makes them of 31 bytes
    /// @return formed false if the proof cannot be right: a signal too many or too few, another length, a point that is
    /// none
    function add(Product memory p, uint256 coefficient, uint256[] memory signals, bytes calldata proof)
        internal
        view
        returns (bool formed)
    {
        uint256[] memory sums = p.sums;
        if (proof.length != PROOF_BYTES || signals.length != sums.length) return false;
        uint256 pair = p.next;
        uint256 c = p.c;
        bool first = pair == p.pairs;
        assembly ("memory-safe") {
            let y := calldataload(add(proof.offset, 0x20))
            formed := lt(y, COORDINATES)
            // The pair is coefficient · −A and B.
            calldatacopy(pair, proof.offset, 0xc0)
            mstore(add(pair, 0x20), sub(COORDINATES, y))
            let size := shl(5, mload(sums))
            switch first
            case 1 {
                // The memory of the sums is not shared.
                calldatacopy(c, add(proof.offset, 0xc0), 0x40)
                mcopy(add(sums, 0x20), add(signals, 0x20), size)
            }
            default {
                // −A, then C, before its coefficient.
                let term := add(c, 0x40)
                mstore(add(c, 0x80), coefficient)
                mcopy(term, pair, 0x40)
                formed := and(formed, staticcall(gas(), EC_MUL, term, 0x60, pair, 0x40))
                calldatacopy(term, add(proof.offset, 0xc0), 0x40)
                formed := and(formed, staticcall(gas(), EC_MUL, term, 0x60, term, 0x40))
                formed := and(formed, staticcall(gas(), EC_ADD, c, 0x80, c, 0x40))
                // Two at a time, from the last to the first; an odd first one by itself.
                for {} gt(size, 0x20) { size := sub(size, 0x40) } {
                    let sum := add(sums, size)
                    let signal := add(signals, size)
                    mstore(sum, addmod(mload(sum), mulmod(coefficient, mload(signal), SCALARS), SCALARS))
                    sum := sub(sum, 0x20)
                    signal := sub(signal, 0x20)
                    mstore(sum, addmod(mload(sum), mulmod(coefficient, mload(signal), SCALARS), SCALARS))
                }
                if size {
                    let sum := add(sums, 0x20)
                    let scaled := mulmod(coefficient, mload(add(signals, 0x20)), SCALARS)
                    mstore(sum, addmod(mload(sum), scaled, SCALARS))
                }
            }
        }
        unchecked {
            p.next = pair + PAIR_BYTES;
        }
        p.total = addmod(p.total, coefficient, SCALARS);
    }

    /// @notice True if every proof that was added is right.
    function holds(Product memory p) internal view returns (bool right) {
        (uint256 key, uint256 pair, uint256 pairs, uint256 c) = (p.key, p.next, p.pairs, p.c);
        uint256 total = p.total;
        if (!_sumSignals(key, total, p.sums, pair + PAIR_BYTES)) return false;
        right = true;
        assembly ("memory-safe") {
            // total · alpha and beta; the signals' sum and gamma; the sum of C and delta.
            mcopy(pair, key, 0xc0)
            if iszero(eq(total, 1)) {
                let scratch := mload(0x40)
                mcopy(scratch, key, 0x40)
                mstore(add(scratch, 0x40), total)
                right := and(right, staticcall(gas(), EC_MUL, scratch, 0x60, pair, 0x40))
            }
            mcopy(add(pair, 0x100), add(key, 0xc0), 0x80)
            mcopy(add(pair, 0x180), c, 0x40)
            mcopy(add(pair, 0x1c0), add(key, 0x140), 0x80)
            right := and(right, staticcall(gas(), EC_PAIRING, pairs, sub(add(pair, 0x240), pairs), 0, 0x20))
            right := and(right, eq(mload(0), 1))
        }
    }

    /// @dev Writes total · the point of 1 + each sum · the point of its signal.
    function _sumSignals(uint256 key, uint256 total, uint256[] memory sums, uint256 out)
        private
        view
        returns (bool formed)
    {
        assembly ("memory-safe") {
            let point := add(key, KEY_FIXED_BYTES)
            // Scratch: the sum so far, then the next point and its factor.
            let scratch := mload(0x40)
            let term := add(scratch, 0x40)
            mcopy(scratch, point, 0x40)
            formed := 1
            if iszero(eq(total, 1)) {
                mstore(term, total)
                formed := staticcall(gas(), EC_MUL, scratch, 0x60, scratch, 0x40)
            }
            let size := shl(5, mload(sums))
            for { let i := 0x20 } iszero(gt(i, size)) { i := add(i, 0x20) } {
                point := add(point, POINT_BYTES)
                let sum := mload(add(sums, i))
                // 0 adds nothing.
                if iszero(sum) { continue }
                mcopy(term, point, 0x40)
                mstore(add(term, 0x40), sum)
                formed := and(formed, staticcall(gas(), EC_MUL, term, 0x60, term, 0x40))
                // A point off the curve has cost all gas but a sixty-fourth.
                if iszero(formed) { break }
                formed := staticcall(gas(), EC_ADD, scratch, 0x80, scratch, 0x40)
            }
            mcopy(out, scratch, 0x40)
        }
    }
}
