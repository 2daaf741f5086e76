"""`python -m assay.exact lines`, and `run PROGRAM WEIGHTS INPUT...`."""

from __future__ import annotations

import sys
from pathlib import Path

from ..errors import AssayError
from .execute import Model
from .lines import serve

USAGE = """usage: python -m assay.exact lines
       python -m assay.exact run PROGRAM WEIGHTS INPUT..."""


def main(arguments: list[str]) -> int:
    if arguments == ["lines"]:
        serve(sys.stdin, sys.stdout)
        return 0
    if len(arguments) < 4 or arguments[0] != "run":
        print(USAGE, file=sys.stderr)
        return 2
    try:
        program, weights, *inputs = (Path(name).read_bytes() for name in arguments[1:])
        # Whatever selector the calldata have: a program does not know it.
        for calldata in inputs:
            print("0x" + Model(program, weights, calldata[:4]).run(calldata).hex())
    except (OSError, AssayError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


sys.exit(main(sys.argv[1:]))
