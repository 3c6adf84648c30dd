#!/usr/bin/env node
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

// In the repository, the program is built from its sources when it is needed. The package contains only the built program.
if (existsSync(new URL('../src', import.meta.url))) await import('../../../scripts/ensure-clients.mjs');
// `import` would first search the whole program for the names of its exports, which took most of the time of a start.
createRequire(import.meta.url)('../dist/mcs.cjs');
