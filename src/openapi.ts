import { writeFileSync } from 'node:fs';
import type { OpenAPIObject } from '@nestjs/swagger';
import { createApplication, documentOf } from './application.js';
import { loadConfiguration } from './infrastructure/config/index.js';

/** The document of all operations with the default configuration, without listening and without a database. */
export async function documentOfEverything(): Promise<OpenAPIObject> {
  const app = await createApplication(loadConfiguration({ LOG_LEVEL: 'warn' }), { backgroundWork: false });
  return documentOf(app);
}

/** `node openapi.js <file>` writes it. */
const [, program, file] = process.argv;
if (program === import.meta.filename && file) {
  writeFileSync(file, `${JSON.stringify(await documentOfEverything(), null, 2)}\n`);
}
