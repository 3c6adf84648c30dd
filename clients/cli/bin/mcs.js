#!/usr/bin/env node
import { existsSync } from 'node:fs';

// In the repository, the program is built from its sources when it is needed. The package contains only the built program.
if (existsSync(new URL('../src', import.meta.url))) await import('../../../scripts/ensure-clients.mjs');
await import('../dist/mcs.cjs');
