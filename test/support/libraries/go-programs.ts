import { execFile, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const hasGo = spawnSync('go', ['version']).status === 0;

/** Builds a program of this folder. @param requirement the module that it imports, with its version @returns its path */
export async function buildGoProgram(name: string, requirement: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'go-program-'));
  cpSync(join(import.meta.dirname, `${name}.go`), join(folder, 'main.go'));
  writeFileSync(join(folder, 'go.mod'), `module example.com/program\n\nrequire ${requirement}\n`);
  await promisify(execFile)('go', ['mod', 'tidy'], { cwd: folder });
  await promisify(execFile)('go', ['build', '-o', 'program', '.'], { cwd: folder });
  return join(folder, 'program');
}
