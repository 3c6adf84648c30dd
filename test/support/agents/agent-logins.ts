import { createHash, randomBytes } from 'node:crypto';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { expectDocumented } from '../documents/api-document.js';
import { send } from '../http/http.js';
import { rememberSecret } from '../runner/run-directory.js';
import type { TestApp } from '../test-app.js';
import { Visitor, type PageResponse } from '../pages/visitor.js';

export const REDIRECT_URI = 'https://agent.example.com/callback';

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly expires_in: number;
  readonly scope: string;
}

export interface OAuthResponse<Body = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** Returns the path of the issuer of an API client. */
export const issuerPathOf = (clientId: string): string => `/connections/${clientId}`;

/** Sends a form to an endpoint of the issuer of an API client. */
export async function sendForm<Body = Record<string, unknown>>(
  { baseUrl }: Pick<TestApp, 'baseUrl'>,
  path: string,
  parameters: Record<string, string> | [string, string][],
): Promise<OAuthResponse<Body>> {
  const { status, headers, text } = await send(`${baseUrl}${path}`, {
    method: 'POST',
    body: new URLSearchParams(parameters),
  });
  const body = JSON.parse(text) as Body;
  const { access_token: access, refresh_token: refresh } = body as Partial<Tokens>;
  rememberSecret(...[access, refresh].filter((token) => token !== undefined));
  expectDocumented('POST', path, status, headers, body);
  return { status, headers, body };
}

interface AgentOptions {
  readonly clientId?: string;
  readonly redirectUris?: string[];
}

/** An agent that has registered itself, speaking plain HTTP. */
export class LoginAgent {
  readonly verifier = randomBytes(32).toString('base64url');

  private constructor(
    readonly service: TestApp,
    readonly clientId: string,
    readonly id: string,
    readonly redirectUri: string,
  ) {}

  static async register(
    service: TestApp,
    { clientId = service.development.clientId, redirectUris = [REDIRECT_URI] }: AgentOptions = {},
  ): Promise<LoginAgent> {
    const body = { client_name: 'Test Agent', redirect_uris: redirectUris };
    const registered = await service.request<{ client_id: string }>(`${issuerPathOf(clientId)}/register`, {
      body,
    });
    expect(registered.status).toBe(201);
    return new LoginAgent(service, clientId, registered.body.client_id, redirectUris[0] ?? '');
  }

  /** Returns an agent with this `client_id`. */
  static named(
    service: TestApp,
    id: string,
    redirectUri: string,
    clientId = service.development.clientId,
  ): LoginAgent {
    return new LoginAgent(service, clientId, id, redirectUri);
  }

  get issuerPath(): string {
    return issuerPathOf(this.clientId);
  }

  /** Returns the path of the authorization request. A parameter that is null is left out. */
  authorizePath(changes: Record<string, string | null> = {}): string {
    const parameters: Record<string, string | null> = {
      response_type: 'code',
      client_id: this.id,
      redirect_uri: this.redirectUri,
      state: 'the state',
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...changes,
    };
    const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== null);
    return `${this.issuerPath}/authorize?${new URLSearchParams(given)}`;
  }

  /** Opens the authorization page, and logs in as a user of the sandbox. @returns the path of the page */
  async logIn(visitor: Visitor, user: string, changes: Record<string, string | null> = {}): Promise<string> {
    const begun = await visitor.get(this.authorizePath(changes));
    expect(begun.status).toBe(303);
    const page = begun.location as string;
    const loggedIn = await visitor.fill(page, { action: 'log_in', external_user_id: user });
    expect(loggedIn).toMatchObject({ status: 303, location: page });
    return page;
  }

  /** Lets the user of the sandbox approve. @returns the parameters that the agent gets */
  async authorize(user: string, changes: Record<string, string | null> = {}): Promise<URLSearchParams> {
    const visitor = new Visitor(this.service);
    const page = await this.logIn(visitor, user, changes);
    return returned(
      await visitor.fill(page, { action: 'approve' }),
      changes['redirect_uri'] ?? this.redirectUri,
    );
  }

  redeem(code: string, changes: Record<string, string> = {}): Promise<OAuthResponse<Tokens>> {
    return sendForm(this.service, `${this.issuerPath}/token`, {
      grant_type: 'authorization_code',
      client_id: this.id,
      code,
      redirect_uri: this.redirectUri,
      code_verifier: this.verifier,
      ...changes,
    });
  }

  refresh(token: string, changes: Record<string, string> = {}): Promise<OAuthResponse<Tokens>> {
    const form = { grant_type: 'refresh_token', client_id: this.id, refresh_token: token, ...changes };
    return sendForm(this.service, `${this.issuerPath}/token`, form);
  }

  /** Lets the user of the sandbox connect the agent. */
  async connect(user: string, changes: Record<string, string | null> = {}): Promise<Tokens> {
    const code = (await this.authorize(user, changes)).get('code') ?? '';
    const { status, body } = await this.redeem(code);
    expect({ status, body }).toMatchObject({ status: 200 });
    return body;
  }
}

/** Returns the parameters with which the browser returns to the agent. */
export function returned({ status, location }: PageResponse, redirectUri = REDIRECT_URI): URLSearchParams {
  expect({ status, location }).toEqual({ status: 303, location: expect.stringContaining(`${redirectUri}?`) });
  const parameters = new URL(location as string).searchParams;
  const code = parameters.get('code');
  if (code !== null) rememberSecret(code);
  return parameters;
}

/** Returns the parameters with which the user can return to an agent whose error the page shows. */
export function offered(
  { status, location, text }: PageResponse,
  redirectUri = REDIRECT_URI,
): URLSearchParams {
  expect({ status, location }).toEqual({ status: 400, location: null });
  expect(text).toContain('The agent cannot be connected');
  const [, link = ''] = /<a[^>]* href="([^"]*)"[^>]*>Return to /.exec(text) ?? [];
  expect(link).toContain(`${redirectUri}?`);
  return new URL(link.replaceAll('&amp;', '&')).searchParams;
}

/** The OAuth provider of an agent that keeps everything in memory, and whose user approves as a user of the sandbox. */
export class SandboxLogin implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT_URI;
  readonly clientMetadata = {
    client_name: 'Unmodified Agent',
    redirect_uris: [REDIRECT_URI],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  private readonly saved = new Map<string, unknown>();
  /** The parameters that the user returned with. */
  response: URLSearchParams | undefined;

  constructor(
    private readonly service: TestApp,
    private readonly user: string,
    readonly clientMetadataUrl?: string,
  ) {}

  state = (): string => 'a state';
  clientInformation = () => this.saved.get('client') as never;
  saveClientInformation = (client: unknown): void => void this.saved.set('client', client);
  tokens = () => this.saved.get('tokens') as never;
  saveTokens = (tokens: unknown): void => {
    const { access_token: access, refresh_token: refresh } = tokens as Tokens;
    rememberSecret(access, refresh);
    this.saved.set('tokens', tokens);
  };
  discoveryState = () => this.saved.get('discovery') as never;
  saveDiscoveryState = (state: unknown): void => void this.saved.set('discovery', state);
  saveCodeVerifier = (verifier: string): void => void this.saved.set('verifier', verifier);
  codeVerifier = (): string => this.saved.get('verifier') as string;

  async redirectToAuthorization(url: URL): Promise<void> {
    const visitor = new Visitor(this.service);
    const begun = await visitor.get(url.href.slice(url.origin.length));
    const page = begun.location as string;
    await visitor.fill(page, { action: 'log_in', external_user_id: this.user });
    this.response = returned(await visitor.fill(page, { action: 'approve' }));
  }
}
