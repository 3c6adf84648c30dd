import { rmSync } from 'node:fs';

export default async function globalTeardown() {
  await globalThis.testServer?.release();
  for (const directory of [process.env.TEST_RUN_DIRECTORY, process.env.TEST_DATABASE_DIRECTORY])
    rmSync(directory, { recursive: true, force: true });
}
