/** Processes that are stopped, and run on later. */
import { readdirSync, readFileSync } from "node:fs";
import { vi } from "vitest";

/** Stops a process; resolves once none of its threads runs. The kernel tells the others only when the first one that is
 *  told gets its turn, which takes time on a busy machine. */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  if (process.platform !== "linux") return;
  const folder = `/proc/${pid}/task`;
  // The state stands behind the name in brackets, which may hold anything.
  const stateOf = (thread: string) =>
    readFileSync(`${folder}/${thread}/stat`, "utf8").replace(/^.*\) /s, "")[0];
  await vi.waitUntil(() => readdirSync(folder).every((thread) => stateOf(thread) === "T"), {
    timeout: 60_000,
    interval: 5,
  });
}
