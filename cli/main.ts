#!/usr/bin/env node
import { runProgram } from "./output.ts";
import { createProgram } from "./program.ts";

await runProgram(createProgram(), process.argv);
