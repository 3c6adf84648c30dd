/** Starts the built service with an empty PostgreSQL, for programs that run other people's clients and test suites. */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApplication } from '../../dist/src/application.js';
import { prepareSchema } from '../../dist/src/infrastructure/bootstrap/index.js';
import { loadConfiguration } from '../../dist/src/infrastructure/config/index.js';
import { startEmbeddedPostgres } from '../../dist/src/infrastructure/embedded-postgres/index.js';
import { OrganizationsService } from '../../dist/src/modules/organizations/index.js';

/** @returns the service; its directory stays when it is closed, without the database */
export async function startService(environment = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'conformance-'));
  // PostgreSQL may run as another user, which must be able to enter the folder.
  chmodSync(directory, 0o755);
  const database = await startEmbeddedPostgres({ directory: join(directory, 'postgres') });
  const close = async (app) => {
    await app?.close();
    await database.release();
    rmSync(join(directory, 'postgres'), { recursive: true, force: true });
  };
  try {
    const configuration = loadConfiguration({
      DATABASE_URL: database.url,
      DATA_DIR: directory,
      SECRET_PEPPER: randomBytes(32).toString('base64'),
      KEY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      PLATFORM_REQUESTS_PER_MINUTE: '100000',
      LOG_LEVEL: 'error',
      ...environment,
    });
    await prepareSchema(configuration);
    const app = await createApplication(configuration, { backgroundWork: false });
    await app.listen(0, '127.0.0.1');
    const organizations = app.get(OrganizationsService);
    const organization = await organizations.create(
      await organizations.prepare({
        name: 'Conformance',
        ownerEmail: 'owner@example.com',
        ownerName: 'Owner',
      }),
    );
    return { app, url: await app.getUrl(), directory, organization, close: () => close(app) };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns the value of an `Authorization` header. */
export const basic = ({ clientId, secret }) =>
  `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`;
