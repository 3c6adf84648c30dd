import { mkdirSync } from 'node:fs';

/** Creates `DATA_DIR`, which only its owner can list. */
export function createDataDirectory(path: string): void {
  // The embedded PostgreSQL of root runs as another user, who must be able to enter the directory.
  mkdirSync(path, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}
