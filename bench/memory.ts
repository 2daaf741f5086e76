/** Memory of the process that is measured. */
import { readFileSync } from "node:fs";

/** Most bytes of this process that were resident. What the system counts of a process may begin with what its parent had;
 *  Linux says it of the memory that the process has had since it began. */
export function mostMemory(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  const found = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"));
  return Number(found?.[1]) * 1024;
}
