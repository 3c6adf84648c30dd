import { existsSync } from 'node:fs';
import { join } from 'node:path';

const TOOLS = join(import.meta.dirname, '../../tools');

/**
 * Returns the path of a file in a package of test/tools.
 *
 * @throws Error if `npm run test:all` has not installed the package
 */
export function toolPath(name: string, file: string): string {
  const path = join(TOOLS, 'node_modules', name, file);
  if (!existsSync(path)) throw new Error(`${name} is missing. Run: node scripts/ensure-tools.mjs`);
  return path;
}
