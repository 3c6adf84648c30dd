import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve as resolvePath } from 'node:path';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ServiceConfiguration } from '../../infrastructure/config/index.js';
import { JobLock } from '../../infrastructure/database/index.js';
import { OrganizationsService, type CreatedOrganization } from './organizations.service.js';

interface CredentialsFile {
  base_url: string;
  development: { client_id: string; secret: string };
  production: { client_id: string; secret: string };
  dashboard: { email: string; password: string };
}

const OWNER_EMAIL = 'owner@example.com';

/** Creates the first organization of a developer's installation. */
@Injectable()
export class FirstOrganization implements OnModuleDestroy {
  private readonly stopped = new AbortController();

  constructor(
    private readonly organizations: OrganizationsService,
    private readonly configuration: ServiceConfiguration,
    private readonly lock: JobLock,
  ) {}

  onModuleDestroy(): void {
    this.stopped.abort();
  }

  /**
   * Creates the organization if there is none, and stores its credentials in the data directory (mode 0600). If the service
   * listens on another port than before, updates the address in the file, unless a running process owns the file.
   *
   * @returns the text to print: the credentials after the creation, otherwise the path of their file
   */
  async provide(baseUrl: string): Promise<string> {
    const file = join(this.configuration.dataDirectory, 'credentials.json');
    const isOwner = await this.ownFile(file);
    let credentials: CredentialsFile | undefined;
    // Written before the commit, so that the file exists whenever the organization does.
    await this.organizations.createFirst(
      { name: 'Example organization', ownerEmail: OWNER_EMAIL, ownerName: 'Owner' },
      async (created) => {
        credentials = credentialsFile(created, baseUrl);
        writePrivately(file, credentials);
      },
    );
    if (credentials) return introduction(credentials, file);
    if (isOwner) updateBaseUrl(file, baseUrl);
    return existsSync(file) ? `Credentials: ${file}` : '';
  }

  /** Returns whether this process owns the file from now on, until it ends. */
  private ownFile(file: string): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const owning = this.lock.runExclusively(`credentials ${resolvePath(file)}`, async () => {
        resolve(true);
        if (!this.stopped.signal.aborted) await once(this.stopped.signal, 'abort');
      });
      owning.then(() => resolve(false), reject);
    });
  }
}

function credentialsFile(created: CreatedOrganization, baseUrl: string): CredentialsFile {
  const { development, production, owner } = created;
  return {
    base_url: baseUrl,
    development: { client_id: development.clientId, secret: development.secret },
    production: { client_id: production.clientId, secret: production.secret },
    dashboard: { email: owner.email, password: owner.password },
  };
}

/** Replaces the file atomically, so that a crash never leaves a partial file. */
function writePrivately(file: string, content: CredentialsFile): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  // writeFileSync ignores the mode for an existing file.
  chmodSync(draft, 0o600);
  renameSync(draft, file);
}

/** Updates the file when the service has started on another port. */
function updateBaseUrl(file: string, baseUrl: string): void {
  if (!existsSync(file)) return;
  const content = JSON.parse(readFileSync(file, 'utf8')) as CredentialsFile;
  if (content.base_url !== baseUrl) writePrivately(file, { ...content, base_url: baseUrl });
}

function introduction(
  { base_url, development, production, dashboard }: CredentialsFile,
  file: string,
): string {
  return `
The first organization was created. Its credentials are shown only once. They are stored in ${file}:

  development  client_id  ${development.client_id}
               secret     ${development.secret}
  production   client_id  ${production.client_id}
               secret     ${production.secret}
  dashboard    address    ${base_url}/dashboard
               email      ${dashboard.email}
               password   ${dashboard.password}

Try it, in another terminal:

npx mcs login --credentials ${file}
npx mcs tokens create --user user-1

With curl:

curl -sS ${base_url}/mcp/tokens/create \\
  -u '${development.client_id}:${development.secret}' \\
  -H 'Content-Type: application/json' \\
  -d '{"external_user_id":"user-1"}'
`;
}
