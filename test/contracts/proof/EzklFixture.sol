// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {ModelWord} from "../../../verifier-contracts/libraries/ModelWord.sol";
import {EzklProof} from "../../../verifier-contracts/proof/EzklProof.sol";
import {EzklVerifiers} from "../../../verifier-contracts/proof/EzklVerifiers.sol";
import {Test} from "../support/Test.sol";

/// @notice The library behind a call, so that its arguments come from calldata.
contract EzklCaller {
    function isTrue(
        uint256 modelWord,
        bytes memory key,
        uint256 binding,
        bytes calldata input,
        bytes calldata output,
        bytes calldata evidence
    ) external view returns (bool) {
        uint256 pointer;
        assembly ("memory-safe") {
            pointer := add(key, 0x20)
        }
        return EzklProof.isTrue(ModelWord.wrap(modelWord), pointer, binding, input, output, evidence);
    }
}

/// @notice One real proof of models/forecast-ezkl and its verifier.
abstract contract EzklFixture is Test {
    uint256 internal constant ORDER =
        21888242871839275222246405745257275088548364400416034343698204186575808495617;

    struct Statement {
        uint256 modelWord;
        bytes key;
        uint256 binding;
        bytes input;
        bytes output;
        bytes evidence;
    }

    EzklVerifiers internal verifiers;
    EzklCaller internal caller;
    address internal verifier;
    uint32 internal inputs;
    uint32 internal outputs;
    bytes4 internal selector;
    string internal vector;

    function setUp() public virtual {
        vector = vm.readFile("test/vectors/ezkl.json");
        verifiers = new EzklVerifiers();
        caller = new EzklCaller();
        verifier = verifiers.create(vm.parseJsonBytes(vector, ".initCode"));
        inputs = uint32(vm.parseJsonUint(vector, ".inputs"));
        outputs = uint32(vm.parseJsonUint(vector, ".outputs"));
        selector = bytes4(vm.parseJsonBytes(vector, ".selector"));
    }

    function _right() internal view returns (Statement memory s) {
        s.modelWord = _word(inputs, outputs);
        s.key = vm.parseJsonBytes(vector, ".key");
        s.binding = uint256(bytes32(vm.parseJsonBytes(vector, ".binding")));
        s.input = vm.parseJsonBytes(vector, ".input");
        s.output = vm.parseJsonBytes(vector, ".output");
        s.evidence = _evidence(verifier);
    }

    /// @dev The vector's proof behind another address.
    function _evidence(address place) internal view returns (bytes memory evidence) {
        evidence = vm.parseJsonBytes(vector, ".evidence");
        bytes20 prefix = bytes20(place);
        for (uint256 i = 0; i < 20; ++i) {
            evidence[i] = prefix[i];
        }
    }

    function _word(uint256 lanes, uint256 words) internal view returns (uint256) {
        uint256 word = 1 | (2 << 8) | (uint256(uint32(selector)) << 64);
        word |= ((68 + 32 * ((lanes + 15) / 16)) << 96) | ((32 * words) << 128);
        return word | (uint256(3) << 160) | (uint256(1) << 168) | (lanes << 176);
    }

    function _accepts(Statement memory s) internal view returns (bool) {
        return caller.isTrue(s.modelWord, s.key, s.binding, s.input, s.output, s.evidence);
    }

    function _flip(bytes memory data, uint256 place, uint256 bit) internal pure {
        data[place] = bytes1(uint8(data[place]) ^ uint8(1 << bit));
    }
}
