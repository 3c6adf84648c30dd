import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { EXIT, Failure, usage } from './failures.js';
import { isLoopback } from './loopback.js';
import { readText } from './text-files.js';

const DEFAULT_BASE_URL = 'http://127.0.0.1:3000';
const DEFAULT_PROFILE = 'default';
const CLIENT_VARIABLES = 'MCS_CLIENT_ID, and MCS_API_KEY or MCS_CLIENT_SECRET';

/** The data that `mcs login` stores. */
export interface Profile {
  readonly base_url?: string | undefined;
  readonly dashboard_url?: string | undefined;
  readonly connector_url?: string | undefined;
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly access_token?: string | undefined;
  /** When the access token expires. */
  readonly expires_at?: string | undefined;
  /** The environment of the access token. */
  readonly environment?: Environment | undefined;
}

export type Environment = 'development' | 'production';

/** The options that every command has. */
export interface GlobalOptions {
  readonly profile?: string;
  readonly baseUrl?: string;
  readonly dashboardUrl?: string;
  /** Only of commands that use the connector. */
  readonly connectorUrl?: string;
  readonly json?: boolean;
}

interface File {
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** Addresses and credentials: options come first, then environment variables, then the stored profile. */
export class Settings {
  readonly profileName: string;

  constructor(
    private readonly options: GlobalOptions,
    private readonly environment: NodeJS.ProcessEnv = process.env,
  ) {
    this.profileName = options.profile ?? (environment['MCS_PROFILE'] || DEFAULT_PROFILE);
  }

  /** The file with the profiles, in the XDG folder for configuration. */
  get file(): string {
    const folder = this.environment['XDG_CONFIG_HOME'] || join(homedir(), '.config');
    return join(folder, 'mcs', 'config.json');
  }

  get profile(): Profile {
    return this.profiles[this.profileName] ?? {};
  }

  get profiles(): Readonly<Record<string, Profile>> {
    return this.read().profiles;
  }

  /** @throws Failure if the profile that an option or a variable names is not stored */
  checkProfile(): void {
    const names = Object.keys(this.profiles);
    if (this.profileName === DEFAULT_PROFILE || names.includes(this.profileName)) return;
    const known = names.length === 0 ? 'No profile is stored' : `Stored profiles: ${names.join(', ')}`;
    throw new Failure(
      `There is no profile ${this.profileName}. ${known}.`,
      EXIT.usage,
      `Run mcs login --profile ${this.profileName} to create it.`,
    );
  }

  get baseUrl(): string {
    const url = this.options.baseUrl ?? (this.environment['MCS_BASE_URL'] || this.profile.base_url);
    return checkedUrl(url ?? DEFAULT_BASE_URL);
  }

  get dashboardUrl(): string {
    const own = this.options.dashboardUrl ?? this.environment['MCS_DASHBOARD_URL'];
    return this.urlOf(own, this.profile.dashboard_url);
  }

  get connectorUrl(): string {
    const own = this.options.connectorUrl ?? this.environment['MCS_CONNECTOR_URL'];
    return this.urlOf(own, this.profile.connector_url);
  }

  /** Returns the address of a surface. The stored one belongs to the stored service only. */
  private urlOf(own: string | undefined, stored: string | undefined): string {
    const isOtherService = this.options.baseUrl !== undefined || Boolean(this.environment['MCS_BASE_URL']);
    return checkedUrl(own || (isOtherService ? this.baseUrl : (stored ?? this.baseUrl)));
  }

  get clientId(): string | undefined {
    return this.environment['MCS_CLIENT_ID'] || this.profile.client_id;
  }

  /** An API key, for commands that need the credentials of a client, and in place of an access token. */
  get apiKey(): string | undefined {
    return this.environment['MCS_API_KEY'] || undefined;
  }

  /** The stored secret belongs to the stored client only. */
  get clientSecret(): string | undefined {
    const { client_id: stored, client_secret: secret } = this.profile;
    return this.environment['MCS_CLIENT_SECRET'] || (this.clientId === stored ? secret : undefined);
  }

  /** @throws Failure if there are none */
  get clientCredentials(): { readonly clientId: string; readonly clientSecret: string } {
    const { clientId } = this;
    const given = this.apiKey || this.environment['MCS_CLIENT_SECRET'];
    const clientSecret = given || this.clientSecret;
    if (clientSecret && !given) this.checkAddress(this.baseUrl, this.storedFor.secret, CLIENT_VARIABLES);
    if (clientId && clientSecret) return { clientId, clientSecret };
    throw new Failure(
      'This command needs the credentials of an API client.',
      EXIT.notLoggedIn,
      `Run mcs login --credentials <file>, or set ${CLIENT_VARIABLES}.`,
    );
  }

  /** The addresses that the stored secret of the API client and the stored access token are for. */
  get storedFor(): { readonly secret: string; readonly token: string } {
    const { base_url: secret = DEFAULT_BASE_URL, dashboard_url: token = secret } = this.profile;
    return { secret, token };
  }

  /**
   * Checks where a stored secret or token is sent: any script or folder can set the variables that name an address.
   *
   * @param variables those that give a credential for any address
   * @throws Failure if the stored one is for another address
   */
  checkAddress(url: string, storedFor: string, variables: string): void {
    if (isSameOrigin(storedFor, url)) return;
    throw new Failure(
      `The credentials of the profile ${this.profileName} are for ${storedFor}. They are not sent to ${url}.`,
      EXIT.notLoggedIn,
      `Log in there with another profile: mcs --profile <name> login. Or set ${variables}.`,
    );
  }

  /** Changes the stored profile. */
  store(changes: Profile): void {
    const { profiles } = this.read();
    this.write({ profiles: { ...profiles, [this.profileName]: { ...this.profile, ...changes } } });
  }

  remove(): void {
    const { [this.profileName]: _removed, ...profiles } = this.read().profiles;
    this.write({ profiles });
  }

  private read(): File {
    let text: string;
    try {
      text = readText(this.file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { profiles: {} };
      throw this.problem('read', error as NodeJS.ErrnoException);
    }
    try {
      const { profiles } = JSON.parse(text) as Partial<File>;
      return { profiles: profiles ?? {} };
    } catch {
      throw new Failure(`${this.file} is not valid JSON.`, EXIT.failure, 'Fix or delete the file.');
    }
  }

  /** Finds out whether the profile can be stored, before something is requested that is lost otherwise. */
  checkStorage(): void {
    const file = this.read();
    // Larger than the file that a login stores, so that a full disk is found out now.
    this.keeping(() => rmSync(this.draft(`${JSON.stringify(file)}${' '.repeat(SPARE_BYTES)}`)));
  }

  /** Replaces the file at once, readable by its owner only. */
  private write(file: File): void {
    this.keeping(() => renameSync(this.draft(`${JSON.stringify(file, null, 2)}\n`), this.target));
  }

  /** Writes a file next to the one with the profiles. @returns its path */
  private draft(text: string): string {
    mkdirSync(dirname(this.target), { recursive: true, mode: 0o700 });
    const draft = `${this.target}.${process.pid}`;
    const descriptor = openSync(draft, 'w', 0o600);
    try {
      fchmodSync(descriptor, 0o600);
      writeFileSync(descriptor, text);
      // Some file systems report a full disk only now.
      fsyncSync(descriptor);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    } finally {
      closeSync(descriptor);
    }
    return draft;
  }

  /** The file itself if its path is a link, which stays. */
  private get target(): string {
    let path = this.file;
    for (let links = 0; links < MAX_LINKS; links += 1) {
      try {
        path = resolve(dirname(path), readlinkSync(path));
      } catch {
        break;
      }
    }
    return path;
  }

  private keeping(work: () => void): void {
    try {
      work();
    } catch (error) {
      throw this.problem('written', error as NodeJS.ErrnoException);
    }
  }

  private problem(what: 'read' | 'written', { code = '', message }: NodeJS.ErrnoException): Failure {
    const reason = STORAGE_PROBLEMS[code] ?? message;
    const text = `${this.target} cannot be ${what}: ${reason}.`;
    return new Failure(text, EXIT.failure, 'XDG_CONFIG_HOME names another folder for it.');
  }
}

const MAX_LINKS = 40;
const SPARE_BYTES = 8_192;

const STORAGE_PROBLEMS: Readonly<Record<string, string>> = {
  EACCES: 'you have no permission',
  EDQUOT: 'your quota of the disk is used up',
  ELOOP: 'the path is a circle of links',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a folder',
  EPERM: 'you have no permission',
  EROFS: 'the disk is read-only',
};

/** Returns whether two addresses belong to one host and port. An address that is none has no origin. */
export function isSameOrigin(address: string, other: string): boolean {
  return (
    [address, other].every((each) => URL.canParse(each)) && new URL(address).origin === new URL(other).origin
  );
}

/** @throws Failure unless secrets can be sent to the address: over https, or to this machine */
export function checkedUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw usage(`${url} is not an http or https address.`);
  if (new URL(url).protocol === 'http:' && !isLoopback(new URL(url)))
    throw usage(`${url} would send secrets without encryption. Use https; http is only for this machine.`);
  return url.replace(/\/+$/, '');
}
