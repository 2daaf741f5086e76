// Entry of a child process that proves: in the repository its bundle, in the packed program what was made of it.
import { start } from "../../../../bin/bundled.js";

await start("prover/proof/groth16/snark/worker");
