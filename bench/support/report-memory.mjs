/** Preloaded by a process whose memory a benchmark measures: SIGUSR2 collects garbage and writes what is left to a file. */
import { renameSync, writeFileSync } from 'node:fs';

process.on('SIGUSR2', () => {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${process.env.MEMORY_FILE}.new`, String(heapUsed + external));
  renameSync(`${process.env.MEMORY_FILE}.new`, process.env.MEMORY_FILE);
});
