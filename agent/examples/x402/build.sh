#!/bin/bash
# TypeScript runs as it is.
exit 0
