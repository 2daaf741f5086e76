// Entry of a thread that hashes: in the repository its bundle, in the packed program what was made of it.
import { start } from "../../bin/bundled.js";

await start("inference/runtime/hash-thread");
