// Entry of the thread that signs. Threads do not take over their parent's way of reading TypeScript, and not every
// Node.js lets them be given one by an option.
import { register } from "tsx/esm/api";

register();
await import("./signing-thread.ts");
