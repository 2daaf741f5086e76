// Entry of a thread of the canonical executor: in the repository its bundle, in the packed program what was made of it.
import { start } from "../../bin/bundled.js";

await start("inference/runtime/canonical-thread");
