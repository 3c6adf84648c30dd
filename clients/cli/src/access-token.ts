import { spawn } from 'node:child_process';
import {
  allowInsecureRequests,
  discovery,
  initiateDeviceAuthorization,
  None,
  pollDeviceAuthorizationGrant,
  ResponseBodyError,
  tokenRevocation,
  type Configuration,
} from 'openid-client';
import { MerchantConnectivity } from '@merchant-connectivity/sdk';
import { EXIT, Failure } from './failures.js';
import type { Output } from './output.js';
import type { Settings } from './settings.js';

/** Milliseconds before its expiry in which a token is no longer used. */
const LEEWAY = 10_000;

const NOT_LOGGED_IN = new Failure(
  'You are not logged in, or the login has expired.',
  EXIT.notLoggedIn,
  'Log in: mcs login',
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

  /** Returns the stored token. @throws Failure if there is none, or if it has expired */
  current(): string {
    const fromEnvironment = process.env['MCS_ACCESS_TOKEN'];
    if (fromEnvironment) return fromEnvironment;
    const { access_token: token, expires_at: expiresAt } = this.settings.profile;
    if (!token || Date.parse(expiresAt ?? '') - LEEWAY < Date.now()) throw NOT_LOGGED_IN;
    return token;
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
    const configuration = await this.discover();
    const parameters = scope === undefined ? undefined : { scope };
    const flow = await initiateDeviceAuthorization(configuration, parameters ?? {}).catch(explain);
    this.output.progress(`Open ${flow.verification_uri} and enter the code ${flow.user_code}`);
    if (opensBrowser) openBrowser(flow.verification_uri);
    const approved = await pollDeviceAuthorizationGrant(configuration, flow).catch((error: unknown) => {
      if (error instanceof ResponseBodyError && error.error === 'expired_token') return undefined;
      return explain(error);
    });
    if (approved) await this.store(approved.access_token, approved.expires_in ?? 0);
    return approved?.access_token;
  }

  private async store(token: string, seconds: number): Promise<void> {
    const { baseUrl, dashboardUrl, connectorUrl, clientId, profile } = this.settings;
    const me = await new MerchantConnectivity({ baseUrl: dashboardUrl, accessToken: token }).getCurrentUser();
    this.settings.store({
      base_url: baseUrl,
      dashboard_url: dashboardUrl === baseUrl ? undefined : dashboardUrl,
      connector_url: connectorUrl === baseUrl ? undefined : connectorUrl,
      client_id: clientId,
      client_secret: clientId === profile.client_id ? profile.client_secret : undefined,
      access_token: token,
      expires_at: new Date(Date.now() + seconds * 1000).toISOString(),
      environment: me.token?.environment,
    });
  }

  async revoke(token: string): Promise<void> {
    await tokenRevocation(await this.discover(), token).catch(explain);
  }

  private async discover(): Promise<Configuration> {
    const { clientId, dashboardUrl } = this.settings;
    if (!clientId) {
      throw new Failure(
        'Logging in needs the client_id of your API client.',
        EXIT.notLoggedIn,
        'Run mcs login --credentials <file>, or set MCS_CLIENT_ID.',
      );
    }
    const url = new URL(dashboardUrl);
    const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
    return discovery(url, clientId, undefined, None(), {
      algorithm: 'oauth2',
      // Without https, tokens travel in the clear: acceptable only on this machine.
      execute: isLocal ? [allowInsecureRequests] : [],
    }).catch(explain);
  }
}

/** Says in a sentence why the service, or the user, has refused. */
function explain(error: unknown): never {
  if (error instanceof ResponseBodyError) {
    throw new Failure(error.error_description ?? error.message, EXIT.failure, 'Start again: mcs login');
  }
  const { message, cause } = error as Error;
  const reason =
    cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : undefined;
  throw new Failure(reason === undefined ? message : `${message}: ${reason}`);
}

function openBrowser(url: string): void {
  const command = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
