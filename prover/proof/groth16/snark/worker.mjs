// Entry of a child process that proves: in the repository its source, in the packed program what was made of it.
import { register } from "tsx/esm/api";

register();
await import("./worker.ts");
