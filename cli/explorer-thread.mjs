// Entry of the thread in which a daemon serves an explorer: in the repository its source, in the packed program what was
// made of it.
import { register } from "tsx/esm/api";

register();
await import("./explorer-thread.ts");
