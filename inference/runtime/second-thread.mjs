// Entry of the second thread of a run: in the repository its bundle, in the packed program what was made of it.
import { start } from "../../bin/bundled.js";

await start("inference/runtime/second-thread");
