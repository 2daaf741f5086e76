#!/usr/bin/env node
import { runProgram } from "./output.ts";
import { createProgram, loadCommands } from "./program.ts";

// Whoever reads may have seen enough (`assay … | head`): what was begun still comes to its end.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });

await runProgram(createProgram(await loadCommands(process.argv.slice(2))), process.argv);
