import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiError,
  type AccessTokenResponse,
  type DeviceCodeResponse,
  type MerchantConnectivity,
} from '@merchant-connectivity/sdk';
import { EXIT, Failure, isTemporary } from './failures.js';
import { clientOf } from './http.js';
import type { Output } from './output.js';
import { isSameOrigin, type Environment, type Profile, type Settings } from './settings.js';

/** Milliseconds before its expiry in which a token is no longer used. */
const LEEWAY = 10_000;
const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:device_code';
/** Seconds that a slow response adds to the interval (RFC 8628, section 3.5). */
const BACKOFF = 5;
/** After the approval, a request is repeated more often: without its response, the user would have to approve again. */
const RETRIES_AFTER_APPROVAL = 6;

const NOT_LOGGED_IN = new Failure(
  'You are not logged in, or the login has expired.',
  EXIT.notLoggedIn,
  'Log in: mcs login',
);

const LOST_TOKEN = new Failure(
  'The service has issued the token, but the response with the token was lost.',
  EXIT.failure,
  'Start again: mcs login',
);

interface LoginOptions {
  readonly opensBrowser?: boolean | undefined;
  readonly scope?: string | undefined;
}

/** Access tokens of dashboard users, which they approve in a browser and which last 15 minutes. */
export class AccessTokens {
  constructor(
    private readonly settings: Settings,
    private readonly output: Output,
  ) {}

  /** Returns the stored token. @throws Failure if there is none, it has expired, or it is for another service */
  current(): string {
    const fromEnvironment = process.env['MCS_ACCESS_TOKEN'] || this.settings.apiKey;
    if (fromEnvironment) return fromEnvironment;
    const { access_token: token, expires_at: expiresAt } = this.settings.profile;
    const { dashboardUrl, storedFor } = this.settings;
    if (token) this.settings.checkAddress(dashboardUrl, storedFor.token, 'MCS_ACCESS_TOKEN');
    if (!token || Date.parse(expiresAt ?? '') - LEEWAY < Date.now()) throw NOT_LOGGED_IN;
    return token;
  }

  /** Returns the known properties of the token: for a token from the environment, its own claims, if it can be decoded. */
  get details(): Pick<Profile, 'environment' | 'expires_at'> {
    const fromEnvironment = process.env['MCS_ACCESS_TOKEN'];
    const { apiKey } = this.settings;
    if (!fromEnvironment && apiKey)
      return { environment: apiKey.startsWith('mck_dev_') ? 'development' : 'production' };
    if (!fromEnvironment) return this.settings.profile;
    try {
      const payload = Buffer.from(fromEnvironment.split('.')[1] ?? '', 'base64url').toString();
      const { environment, exp } = JSON.parse(payload) as { environment?: Environment; exp: number };
      return { environment, expires_at: new Date(exp * 1000).toISOString() };
    } catch {
      return {};
    }
  }

  /** Returns the stored token, or asks the user for a new one. For commands that run longer than a token lasts. */
  async currentOrNew(): Promise<string> {
    try {
      return this.current();
    } catch (error) {
      if (error !== NOT_LOGGED_IN) throw error;
    }
    this.output.progress('The login has expired. The command continues when you have approved it again.');
    for (;;) {
      const token = await this.request();
      if (token !== undefined) return token;
      this.output.progress('The code has expired. Here is another one.');
    }
  }

  /** Forgets the stored token, which the service no longer accepts. */
  discard(): void {
    this.settings.store({ access_token: undefined, expires_at: undefined });
  }

  /**
   * Asks the user to approve a login, and stores its token.
   *
   * @returns undefined if the code has expired
   */
  async request({ opensBrowser = false, scope }: LoginOptions = {}): Promise<string | undefined> {
    // Before the user approves something that could not be stored.
    this.settings.checkStorage();
    const client = this.client();
    const { clientId: client_id } = this;
    const flow = await client.requestDeviceCode({ client_id, ...(scope !== undefined && { scope }) });
    this.output.progress(`Open ${flow.verification_uri} and enter the code ${flow.user_code}`);
    if (opensBrowser) this.open(flow.verification_uri);
    const approved = await this.poll(client, flow);
    if (approved) await this.store(approved.access_token, approved.expires_in);
    return approved?.access_token;
  }

  /**
   * Polls until the user has decided. Failures of the network and of proxies say nothing about that, so polling goes on until
   * the code expires.
   *
   * @returns undefined if the code has expired
   */
  private async poll(
    client: MerchantConnectivity,
    { device_code, expires_in, ...flow }: DeviceCodeResponse,
  ): Promise<AccessTokenResponse | undefined> {
    const end = Date.now() + expires_in * 1000;
    const request = { grant_type: GRANT_TYPE, client_id: this.clientId, device_code } as const;
    let { interval = BACKOFF } = flow;
    let isInterrupted = false;
    for (;;) {
      await sleep(Math.max(0, Math.min(interval * 1000, end - Date.now())));
      if (Date.now() >= end) return undefined;
      try {
        return await client.exchangeDeviceCode(request, { maxRetries: 0 });
      } catch (error) {
        const oauthError = error instanceof ApiError ? error.details.oauthError : undefined;
        if (oauthError === 'expired_token') return undefined;
        if (oauthError === 'slow_down' && error instanceof ApiError)
          interval = error.details.interval ?? Math.max(interval + BACKOFF, error.retryAfter ?? 0);
        else if (oauthError === 'invalid_grant' && isInterrupted) throw LOST_TOKEN;
        else if (isTemporary(error)) {
          if (!isInterrupted) this.output.progress(`${(error as Error).message} Trying again…`);
          isInterrupted = true;
          if (isTimeout(error)) interval += BACKOFF;
        } else if (oauthError !== 'authorization_pending') throw error;
      }
    }
  }

  private async store(token: string, seconds: number): Promise<void> {
    const { baseUrl, dashboardUrl, connectorUrl, clientId, profile, storedFor } = this.settings;
    const me = await clientOf({ baseUrl: dashboardUrl, accessToken: token }).getCurrentUser({
      maxRetries: RETRIES_AFTER_APPROVAL,
    });
    const keepsSecret = clientId === profile.client_id && isSameOrigin(storedFor.secret, baseUrl);
    if (profile.client_secret && !keepsSecret)
      this.output.progress(
        `The profile no longer has the secret of the API client ${profile.client_id} of ${storedFor.secret}.`,
      );
    this.settings.store({
      base_url: baseUrl,
      dashboard_url: dashboardUrl === baseUrl ? undefined : dashboardUrl,
      connector_url: connectorUrl === baseUrl ? undefined : connectorUrl,
      client_id: clientId,
      client_secret: keepsSecret ? profile.client_secret : undefined,
      access_token: token,
      expires_at: new Date(Date.now() + seconds * 1000).toISOString(),
      environment: me.token?.environment,
    });
  }

  /** Opens a page of the dashboard in the browser. The address comes from a response, and could name any program or file. */
  private open(address: string): void {
    const { origin } = new URL(this.settings.dashboardUrl);
    if (URL.canParse(address) && new URL(address).origin === origin) openBrowser(new URL(address).href);
    else this.output.progress(`The address is not opened, because it is not on ${origin}.`);
  }

  /** Revokes the stored token unless it has expired. It is sent only to the service, and with the client, that it was stored with. */
  async revoke(): Promise<void> {
    const { client_id, access_token: token, expires_at } = this.settings.profile;
    if (!token || !client_id || Date.parse(expires_at ?? '') < Date.now()) return;
    await clientOf({ baseUrl: this.settings.storedFor.token }).revokeToken({ token, client_id });
  }

  private client(): MerchantConnectivity {
    return clientOf({ baseUrl: this.settings.dashboardUrl });
  }

  /** @throws Failure if there is none */
  private get clientId(): string {
    const { clientId } = this.settings;
    if (clientId) return clientId;
    throw new Failure(
      'Logging in needs the client_id of your API client.',
      EXIT.notLoggedIn,
      'Run mcs login --credentials <file>, or set MCS_CLIENT_ID.',
    );
  }
}

function isTimeout(error: unknown): boolean {
  const { name, cause } = ((error as Error).cause ?? {}) as Partial<Error>;
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  return name === 'TimeoutError' || ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'].includes(code);
}

function openBrowser(url: string): void {
  const command = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
