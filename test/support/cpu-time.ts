/** Time that this process computed: another one that keeps the machine busy does not count. */

/** ms */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
