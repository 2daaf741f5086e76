// Entry of a thread that serves the explorer: in the repository its bundle, in the packed program what was made of it.
import { start } from "../bin/bundled.js";

await start("cli/explorer-thread");
