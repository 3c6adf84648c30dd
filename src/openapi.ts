import { writeFileSync } from 'node:fs';
import type { OpenAPIObject } from '@nestjs/swagger';
import { createApplication, documentOf } from './application.js';
import { loadConfiguration, type Environment } from './infrastructure/config/index.js';

/**
 * Builds the document of all operations, without listening and without a database.
 *
 * @param environment the configuration, whose limits the document states; the default configuration if absent
 */
export async function buildOpenApiDocument(environment: Environment = {}): Promise<OpenAPIObject> {
  const configuration = loadConfiguration({ LOG_LEVEL: 'warn', ...environment });
  return documentOf(await createApplication(configuration, { backgroundWork: false }));
}

/** `node openapi.js <file>` writes the document with the default configuration. */
const [, program, file] = process.argv;
if (program === import.meta.filename && file) {
  writeFileSync(file, `${JSON.stringify(await buildOpenApiDocument(), null, 2)}\n`);
}
