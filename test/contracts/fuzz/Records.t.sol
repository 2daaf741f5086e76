// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {RecordFuzz} from "./RecordFuzz.sol";

/// @dev A contract for each opcode: forge runs them beside each other.
contract MoveRecordsTest is RecordFuzz {
    function test_records_move_succeeds() public {
        _fuzz(2, 0x1, 0x1F);
    }
}

contract LookupRecordsTest is RecordFuzz {
    function test_records_lookup_succeeds() public {
        _fuzz(3, 0xF, 0x1F);
    }
}

contract DotRecordsTest is RecordFuzz {
    function test_records_dot_succeeds() public {
        _fuzz(4, 0x1F, 0x07);
    }
}

contract RequantRecordsTest is RecordFuzz {
    function test_records_requant_succeeds() public {
        _fuzz(5, 0x6, 0x03);
    }
}

contract RescaleRecordsTest is RecordFuzz {
    function test_records_rescale_succeeds() public {
        _fuzz(6, 0x7, 0x07);
    }
}

contract TableRecordsTest is RecordFuzz {
    function test_records_table_succeeds() public {
        _fuzz(7, 0x1, 0x13);
    }
}

contract ArithRecordsTest is RecordFuzz {
    function test_records_arith_succeeds() public {
        _fuzz(8, 0x7FF, 0x17);
    }
}

contract FloatRecordsTest is RecordFuzz {
    function test_records_float_succeeds() public {
        _fuzz(9, 0x7FFF, 0x1F);
    }
}

contract ReduceRecordsTest is RecordFuzz {
    function test_records_reduce_succeeds() public {
        _fuzz(10, 0xF, 0x17);
    }
}

contract SelectRecordsTest is RecordFuzz {
    function test_records_select_succeeds() public {
        _fuzz(11, 0x1, 0x1F);
    }
}
