// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../verifier-contracts/Assay.sol";
import {Courier} from "../../../verifier-contracts/Courier.sol";
import {IAssayErrors} from "../../../verifier-contracts/interfaces/IAssayErrors.sol";
import {IJudge} from "../../../verifier-contracts/interfaces/IJudge.sol";
import {IModelRegistry} from "../../../verifier-contracts/interfaces/IModelRegistry.sol";
import {ITraceReader} from "../../../verifier-contracts/interfaces/ITraceReader.sol";
import {ITruth} from "../../../verifier-contracts/interfaces/ITruth.sol";
import {AssayFixture} from "../support/assay/AssayFixture.sol";

contract ConstructTest is AssayFixture {
    struct Numbers {
        uint40 answerSeconds;
        uint64 floor;
        uint64 gasBase;
    }

    function _deploy(address[5] memory parts, Numbers memory n) private returns (Assay) {
        return new Assay(
            IModelRegistry(parts[0]),
            IJudge(parts[1]),
            ITraceReader(parts[2]),
            ITruth(parts[3]),
            ITruth(parts[4]),
            n.answerSeconds,
            n.floor,
            n.gasBase,
            GAS_PER_DEMAND
        );
    }

    function _parts() private view returns (address[5] memory) {
        return [
            address(assay.registry()),
            address(assay.judge()),
            address(assay.traceReader()),
            address(execution),
            address(proof)
        ];
    }

    function test_constructor_constants_succeeds() public view {
        assertEq(address(assay.registry()), address(registry));
        assertEq(address(assay.executionAdapter()), address(execution));
        assertEq(address(assay.proofAdapter()), address(proof));
        assertEq(assay.answerSeconds(), T);
        assertEq(assay.gasPriceFloor(), FLOOR);
        assertEq(assay.gasBase(), GAS_BASE);
        assertEq(assay.gasPerDemand(), GAS_PER_DEMAND);
        assertEq(Courier(assay.courier()).assay(), address(assay));
    }

    function test_constructor_codeSize_succeeds() public view {
        assertLt(address(assay).code.length, 24_576);
    }

    function test_constructor_partWithoutCode_reverts() public {
        for (uint256 i; i < 5; i++) {
            address[5] memory parts = _parts();
            parts[i] = stranger;
            vm.expectRevert(abi.encodeWithSelector(IAssayErrors.NotAContract.selector, stranger));
            _deploy(parts, Numbers(T, FLOOR, GAS_BASE));
        }
    }

    function test_constructor_numbersOutside_reverts() public {
        address[5] memory parts = _parts();
        bytes4 why = IAssayErrors.ParameterOutOfRange.selector;
        uint256 longest = 30 days / 4;
        vm.expectRevert(abi.encodeWithSelector(why, 0, 1, longest));
        _deploy(parts, Numbers(0, FLOOR, GAS_BASE));
        vm.expectRevert(abi.encodeWithSelector(why, longest + 1, 1, longest));
        _deploy(parts, Numbers(uint40(longest + 1), FLOOR, GAS_BASE));
        vm.expectRevert(abi.encodeWithSelector(why, 0, 1, type(uint64).max));
        _deploy(parts, Numbers(T, 0, GAS_BASE));
        vm.expectRevert(abi.encodeWithSelector(why, 0, 1, type(uint64).max));
        _deploy(parts, Numbers(T, FLOOR, 0));
        _deploy(parts, Numbers(uint40(longest), type(uint64).max, type(uint64).max));
    }
}
