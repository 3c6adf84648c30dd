import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { rememberSecret } from '../runner/run-directory.js';
import type { TestResponse, RequestOptions, Login, TestApp } from '../test-app.js';
import { Visitor, type PageResponse } from '../pages/visitor.js';

export const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';

/** The response to a device code request. */
export interface StartedFlow {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly expires_in: number;
  readonly interval: number;
}

export type Fields = Readonly<Record<string, string>> | readonly (readonly [string, string])[];

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
let addresses = 0;

/** Returns a new IP address for each request, so that no limit per address applies. Requires `TRUSTED_PROXY_HOPS`. */
export function freshAddress(): string {
  addresses += 1;
  return `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

/** Sends a form to an OAuth endpoint. */
export async function sendForm<Body = Record<string, unknown>>(
  service: TestApp,
  path: string,
  fields: Fields,
  { headers, ...options }: RequestOptions = {},
): Promise<TestResponse<Body>> {
  const entries = Array.isArray(fields) ? fields : Object.entries(fields);
  const body = new URLSearchParams(entries as [string, string][]).toString();
  const address = { 'x-forwarded-for': freshAddress() };
  return service.request<Body>(path, { body, headers: { ...FORM, ...address, ...headers }, ...options });
}

/** Requests a device code. */
export async function startFlow(
  service: TestApp,
  client: Pick<IssuedCredentials, 'clientId'> = service.development,
  scope?: string,
): Promise<StartedFlow> {
  const fields = { client_id: client.clientId, ...(scope === undefined ? {} : { scope }) };
  const { status, body } = await sendForm<StartedFlow>(service, '/oauth/device/code', fields);
  if (status !== 200) throw new Error(`No device code: ${JSON.stringify(body)}`);
  rememberSecret(body.device_code, body.user_code, body.user_code.replace('-', ''));
  return body;
}

/** Polls once. */
export function poll(
  service: TestApp,
  { device_code }: Pick<StartedFlow, 'device_code'>,
  { clientId }: Pick<IssuedCredentials, 'clientId'> = service.development,
): Promise<TestResponse> {
  return sendForm(service, '/oauth/token', { grant_type: GRANT, client_id: clientId, device_code });
}

/** A page as received by a browser. */
export type BrowserPage = PageResponse & { readonly html: string };

/** A visitor who is logged in, and submits the forms of the current page. */
export class Browser extends Visitor {
  constructor(
    baseUrl: string,
    login?: Pick<Login, 'cookie'>,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super({ baseUrl }, undefined, headers);
    if (login) this.cookies.set('session', login.cookie.slice('session='.length));
  }

  async open(path: string): Promise<BrowserPage> {
    const page = await this.get(path);
    return { ...page, html: page.text };
  }

  async send(path: string, fields: Readonly<Record<string, string>>): Promise<BrowserPage> {
    const page = await this.submit(path, fields);
    return { ...page, html: page.text };
  }
}

/** Enters the user code and decides. */
export async function decide(
  service: Pick<TestApp, 'baseUrl'>,
  login: Pick<Login, 'cookie'>,
  userCode: string,
  decision: 'approve' | 'deny' = 'approve',
): Promise<BrowserPage> {
  const browser = new Browser(service.baseUrl, login, { 'x-forwarded-for': freshAddress() });
  await browser.open('/device');
  const { location } = await browser.send('/device', { user_code: userCode });
  if (!location) throw new Error(`The code ${userCode} was not found`);
  await browser.open(location);
  const request = new URL(location, service.baseUrl).searchParams.get('request') ?? '';
  const { location: result } = await browser.send('/device/confirm', { request, decision });
  return browser.open(result ?? '/device/result');
}

/** Runs the whole flow. @returns an access token */
export async function accessToken(
  service: TestApp,
  login: Login,
  client: Pick<IssuedCredentials, 'clientId'> = service.development,
  scope?: string,
): Promise<string> {
  const flow = await startFlow(service, client, scope);
  await decide(service, login, flow.user_code);
  const { status, body } = await poll(service, flow, client);
  if (status !== 200) throw new Error(`No access token: ${JSON.stringify(body)}`);
  const token = String(body['access_token']);
  rememberSecret(token);
  return token;
}
