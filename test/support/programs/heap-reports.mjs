import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Loaded before a program. Each signal collects garbage, and writes the bytes that are left to standard error. */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
const SIGNALS = { SIGUSR2: 'minor', SIGWINCH: 'major' };
let reports = 0;

for (const [signal, type] of Object.entries(SIGNALS))
  process.on(signal, () => {
    // The second collection waits for the buffers of the first one, which another thread frees.
    collect({ type });
    collect({ type });
    reports += 1;
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    writeSync(2, `report ${reports}: ${arrayBuffers + heapUsed}\n`);
  });
