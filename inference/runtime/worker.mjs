// Entry of a child process that runs onnxruntime: in the repository its bundle, in the packed program what was made of it.
import { start } from "../../bin/bundled.js";

await start("inference/runtime/worker");
