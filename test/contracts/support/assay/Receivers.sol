// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.30;

import {Assay} from "../../../../verifier-contracts/Assay.sol";

// Contracts that ether is sent to.

contract Refuser {
    receive() external payable {
        revert();
    }
}

/// @notice Takes ether and answers with a megabyte.
contract ReturnBomb {
    receive() external payable {
        assembly {
            return(0, 1000000)
        }
    }
}

/// @notice Withdraws again while it is being paid.
contract Reenterer {
    Assay private immutable _assay;
    uint256 public attempts;
    uint256 public gains;

    constructor(Assay assay) {
        _assay = assay;
    }

    function withdraw() external {
        _assay.withdraw(address(this));
    }

    receive() external payable {
        attempts++;
        try _assay.withdraw(address(this)) {
            gains++;
        } catch {}
    }
}
