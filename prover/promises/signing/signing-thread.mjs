// Entry of a thread that signs and journals: in the repository its bundle, in the packed program what was made of it.
import { start } from "../../../bin/bundled.js";

await start("prover/promises/signing/signing-thread");
