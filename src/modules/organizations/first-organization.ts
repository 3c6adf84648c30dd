import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve as resolvePath } from 'node:path';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { ServiceConfiguration } from '../../infrastructure/config/index.js';
import { JobLock } from '../../infrastructure/database/index.js';
import { ApiClientDirectory } from '../api-clients/index.js';
import { OrganizationsService, type CreatedOrganization } from './organizations.service.js';

interface CredentialsFile {
  base_url: string;
  development: { client_id: string; secret: string };
  production: { client_id: string; secret: string };
  dashboard: { email: string; password: string };
}

const OWNER_EMAIL = 'owner@example.com';
const FILE = 'credentials.json';
/** Files with credentials. Processes with different databases can share a data directory. */
const FILES = /^credentials(?:-[\da-f-]{36})?\.json$/;

/** Creates the first organization of a developer's installation. */
@Injectable()
export class FirstOrganization implements OnModuleDestroy {
  private readonly stopped = new AbortController();

  constructor(
    private readonly organizations: OrganizationsService,
    private readonly clients: ApiClientDirectory,
    private readonly configuration: ServiceConfiguration,
    private readonly lock: JobLock,
  ) {}

  onModuleDestroy(): void {
    this.stopped.abort();
  }

  /**
   * Creates the organization if there is none, and stores its credentials in the data directory (mode 0600), in a file of
   * their own if another database has its credentials there. If the service listens on another port than before, updates the
   * address in the file of its database, unless a running process owns the file.
   *
   * @returns the text to print: the credentials after the creation, otherwise the path of their file
   */
  async provide(baseUrl: string): Promise<string> {
    const isOwner = await this.ownFile(join(this.configuration.dataDirectory, FILE));
    let stored: { readonly file: string; readonly credentials: CredentialsFile } | undefined;
    // Written before the commit, so that the file exists whenever the organization does.
    await this.organizations.createFirst(
      { name: 'Example organization', ownerEmail: OWNER_EMAIL, ownerName: 'Owner' },
      async (created) => {
        // An earlier attempt of the transaction.
        if (stored) unlinkSync(stored.file);
        const credentials = credentialsFile(created, baseUrl);
        stored = { file: storeNew(this.configuration.dataDirectory, credentials), credentials };
      },
    );
    if (stored) return introduction(stored.credentials, stored.file);
    const file = await this.findFile();
    if (file === undefined) return '';
    if (isOwner) updateBaseUrl(file, baseUrl);
    return `Credentials: ${file}`;
  }

  private async findFile(): Promise<string | undefined> {
    const { dataDirectory } = this.configuration;
    if (!existsSync(dataDirectory)) return undefined;
    for (const name of readdirSync(dataDirectory).filter((each) => FILES.test(each))) {
      const file = join(dataDirectory, name);
      const { development, production } = read(file);
      // One of them is unknown if the process serves only one environment.
      for (const { client_id: id } of [development, production]) if (await this.clients.find(id)) return file;
    }
    return undefined;
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

/** Stores credentials in a new file. @returns the file */
function storeNew(directory: string, credentials: CredentialsFile): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const draft = writeDraft(join(directory, FILE), credentials);
  const own = `credentials-${credentials.development.client_id}.json`;
  try {
    for (const file of [FILE, own].map((name) => join(directory, name))) {
      try {
        // Unlike a renaming, it does not replace a file.
        linkSync(draft, file);
        return file;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
    throw new Error(`${own} exists`);
  } finally {
    unlinkSync(draft);
  }
}

/** Writes a complete file that takes its name afterwards, so that a crash never leaves a partial file. */
function writeDraft(file: string, content: CredentialsFile): string {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  // writeFileSync ignores the mode for an existing file.
  chmodSync(draft, 0o600);
  return draft;
}

function read(file: string): CredentialsFile {
  return JSON.parse(readFileSync(file, 'utf8')) as CredentialsFile;
}

/** Updates the file when the service has started on another port. */
function updateBaseUrl(file: string, baseUrl: string): void {
  const content = read(file);
  if (content.base_url !== baseUrl) renameSync(writeDraft(file, { ...content, base_url: baseUrl }), file);
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
