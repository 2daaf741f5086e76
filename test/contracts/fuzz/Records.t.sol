// SPDX-License-Identifier: GPL-3.0-only
pragma solidity ^0.8.28;

import {RecordFuzz} from "./RecordFuzz.sol";

/// @dev A contract for each opcode: forge runs them beside each other.
contract MoveRecordsTest is RecordFuzz {
    function test_records_move_succeeds() public {
        _fuzz(2);
    }
}

contract LookupRecordsTest is RecordFuzz {
    function test_records_lookup_succeeds() public {
        _fuzz(3);
    }
}

contract DotRecordsTest is RecordFuzz {
    function test_records_dot_succeeds() public {
        _fuzz(4);
    }
}

contract RequantRecordsTest is RecordFuzz {
    function test_records_requant_succeeds() public {
        _fuzz(5);
    }
}

contract RescaleRecordsTest is RecordFuzz {
    function test_records_rescale_succeeds() public {
        _fuzz(6);
    }
}

contract TableRecordsTest is RecordFuzz {
    function test_records_table_succeeds() public {
        _fuzz(7);
    }
}

contract ArithRecordsTest is RecordFuzz {
    function test_records_arith_succeeds() public {
        _fuzz(8);
    }
}

contract FloatRecordsTest is RecordFuzz {
    function test_records_float_succeeds() public {
        _fuzz(9);
    }
}

contract ReduceRecordsTest is RecordFuzz {
    function test_records_reduce_succeeds() public {
        _fuzz(10);
    }
}

contract SelectRecordsTest is RecordFuzz {
    function test_records_select_succeeds() public {
        _fuzz(11);
    }
}
