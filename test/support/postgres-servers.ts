import { appendFileSync, cpSync, mkdirSync, mkdtempSync, chmodSync, rmSync, statSync, writeFileSync, chownSync, readFileSync } from 'node:fs';
