// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {Orders} from "../../../verifier-contracts/libraries/Orders.sol";
import {Claim, Request} from "../../../verifier-contracts/types/Types.sol";

/// @notice One request of a batch, with the arguments of `settle`.
struct Settlement {
    Request request;
    Claim claim;
    bytes input;
    bytes output;
    bytes evidence;
}

/// @notice Settlements as `settleBatch` takes them (docs/PROTOCOL.md, section 2).
library PackedSettlements {
    function pack(Settlement memory s) internal pure returns (bytes memory) {
        bytes memory order = abi.encodePacked(s.request.requester, Orders.pack(s.request, s.input));
        bytes memory claim;
        if (s.claim.prover != address(0)) claim = abi.encode(s.claim);
        return pack(order, claim, s.output, s.evidence);
    }

    function pack(bytes memory order, bytes memory claim, bytes memory output, bytes memory evidence)
        internal
        pure
        returns (bytes memory)
    {
        return bytes.concat(_part(order), _part(claim), _part(output), evidence);
    }

    function pack(Settlement[] memory batch) internal pure returns (bytes[] memory packed) {
        packed = new bytes[](batch.length);
        for (uint256 i = 0; i < batch.length; ++i) {
            packed[i] = pack(batch[i]);
        }
    }

    function _part(bytes memory content) private pure returns (bytes memory) {
        return abi.encodePacked(uint24(content.length), content);
    }
}
