/**
 * Returns the milliseconds of CPU time that the work takes. Unlike the time on the clock, they hardly depend on what else the
 * machine does.
 */
export function cpuTimeOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
