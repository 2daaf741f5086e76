/** `npm run mutate -- TARGET` (tools/mutation/main.ts). */
import { mutate } from "../tools/mutation/main.ts";
import { openProgramRuns } from "./support/program-runs.ts";

process.exitCode = await mutate(openProgramRuns);
