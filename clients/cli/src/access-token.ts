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
import { EXIT, Failure, NOT_REACHED } from './failures.js';
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
    const flow = await initiateDeviceAuthorization(configuration, parameters ?? {}).catch((error: unknown) =>
      this.explain(error),
    );
    this.output.progress(`Open ${flow.verification_uri} and enter the code ${flow.user_code}`);
    if (opensBrowser) this.open(flow.verification_uri);
    const approved = await pollDeviceAuthorizationGrant(configuration, flow).catch((error: unknown) => {
      if (error instanceof ResponseBodyError && error.error === 'expired_token') return undefined;
      return this.explain(error);
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

  /** Opens a page of the dashboard in the browser. The address comes from a response, and could name any program or file. */
  private open(address: string): void {
    const { origin } = new URL(this.settings.dashboardUrl);
    if (URL.canParse(address) && new URL(address).origin === origin) openBrowser(new URL(address).href);
    else this.output.progress(`The address is not opened, because it is not on ${origin}.`);
  }

  async revoke(token: string): Promise<void> {
    await tokenRevocation(await this.discover(), token).catch((error: unknown) => this.explain(error));
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
    return discovery(url, clientId, undefined, None(), {
      algorithm: 'oauth2',
      execute: url.protocol === 'http:' ? [allowInsecureRequests] : [],
    }).catch((error: unknown) => this.explain(error));
  }

  /** Says in a sentence why the service, or the user, has refused. */
  private explain(error: unknown): never {
    if (error instanceof ResponseBodyError) {
      throw new Failure(error.error_description ?? error.message, EXIT.failure, 'Start again: mcs login');
    }
    const { message, cause } = error as Error;
    if (!(cause instanceof Error)) throw new Failure(message);
    const reason = cause.message || String((cause as NodeJS.ErrnoException).code);
    if (!(error instanceof TypeError)) throw new Failure(`${message}: ${reason}`);
    // The error of `fetch` does not name the address.
    const { origin } = new URL(this.settings.dashboardUrl);
    throw new Failure(`The request to ${origin} failed: ${reason}.`, EXIT.failure, NOT_REACHED);
  }
}

function openBrowser(url: string): void {
  const command = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
