import { rmSync } from 'node:fs';

export default async function globalTeardown() {
  await globalThis.testServer?.release();
  rmSync(process.env.TEST_RUN_DIRECTORY, { recursive: true, force: true });
}
