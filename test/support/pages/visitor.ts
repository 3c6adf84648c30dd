import { randomInt } from 'node:crypto';
import type { DashboardRole } from '../../../src/infrastructure/auth/index.js';
import { send, type HttpRequest } from '../http/http.js';
import { rememberSecret } from '../runner/run-directory.js';
import type { Login, TestApp } from '../test-app.js';

/** Makes the service trust the address in a visitor's X-Forwarded-For header. */
export const BEHIND_PROXY = { TRUSTED_PROXY_HOPS: '1' };

/** Cookies that are no secrets. */
const PREFERENCES: ReadonlySet<string> = new Set([
  'agent_window',
  'environment',
  'request_log_columns',
  'done',
  'time_zone',
]);

export interface PageResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Bytes of the body. */
  readonly size: number;
  /** The Location header. */
  readonly location: string | null;
}

/** A minimal browser: keeps cookies, reads pages and submits their forms. */
export class Visitor {
  readonly cookies = new Map<string, string>();
  private formToken = '';

  constructor(
    private readonly service: Pick<TestApp, 'baseUrl'>,
    /** Every visitor has its own address, so that the limits of one test do not affect the next. */
    readonly ip = `10.${randomInt(256)}.${randomInt(256)}.${randomInt(1, 255)}`,
    private readonly headers: Record<string, string> = {},
  ) {}

  get session(): string | undefined {
    return this.cookies.get('session');
  }

  get(path: string, headers: Record<string, string> = {}): Promise<PageResponse> {
    return this.request(path, { headers });
  }

  /** Submits a form of the last page. */
  async submit(
    action: string,
    fields: Record<string, string> = {},
    headers: Record<string, string> = {},
  ): Promise<PageResponse> {
    const body = new URLSearchParams({ form_token: this.formToken, ...fields });
    return this.request(action, { method: 'POST', body, headers });
  }

  /** Opens the page and submits a form of it. */
  async fill(page: string, fields: Record<string, string>, action = page): Promise<PageResponse> {
    await this.get(page);
    return this.submit(action, fields);
  }

  logIn(email: string, password: string, next?: string): Promise<PageResponse> {
    return this.fill('/login', { email, password, ...(next === undefined ? {} : { next }) });
  }

  /** Whether the login is recent enough for what requires one in the last 5 minutes. Sends such a form, without what it needs. */
  async hasRecentLogin(): Promise<boolean> {
    await this.get('/account');
    return (await this.submit('/account/passkeys')).status !== 307;
  }

  /** Returns another visitor with the same cookies. */
  copy(): Visitor {
    const copy = new Visitor(this.service, this.ip, this.headers);
    for (const [name, value] of this.cookies) copy.cookies.set(name, value);
    copy.formToken = this.formToken;
    return copy;
  }

  private async request(path: string, options: HttpRequest = {}): Promise<PageResponse> {
    const {
      status,
      headers,
      text: body,
    } = await send(`${this.service.baseUrl}${path}`, {
      ...options,
      headers: {
        'x-forwarded-for': this.ip,
        'user-agent': 'visitor',
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...this.headers,
        ...options.headers,
      },
    });
    for (const cookie of headers.getSetCookie()) this.keep(cookie);
    // Where a name is shortened is no part of the name.
    const text = body.replaceAll(
      /<span class="middle"><span>(.*?)<\/span><span class="tail">(.*?)<\/span><\/span>/g,
      '$1$2',
    );
    this.formToken = /name="form_token" value="([\w-]+)"/.exec(text)?.[1] ?? this.formToken;
    return { status, headers, text, size: Buffer.byteLength(body), location: headers.get('location') };
  }

  private keep(cookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (value === '') this.cookies.delete(name);
    else this.cookies.set(name, value);
    if (value !== '' && !PREFERENCES.has(name)) rememberSecret(value);
  }
}

/** Returns the session that a response opens. */
export function sessionIn(headers: Headers): string | undefined {
  return /(?:^|, )session=([\w-]+)/.exec(headers.get('set-cookie') ?? '')?.[1];
}

/** A user of the dashboard, logged in without the login page. */
export async function visitorWithRole(
  service: TestApp,
  role: DashboardRole = 'owner',
  organizationId?: string,
): Promise<Visitor & { readonly login: Login }> {
  const login = await service.login(role, organizationId);
  const visitor = new Visitor(service);
  visitor.cookies.set('session', login.cookie.slice('session='.length));
  return Object.assign(visitor, { login });
}

/** Returns the values that a form showed when it was opened. */
export function seenOn(text: string): string {
  const [, seen = ''] = /name="seen" value="([^"]+)"/.exec(text) ?? [];
  return seen.replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}

/** Returns the path of the first link whose text begins with this. */
export function linkTo(text: string, html: string): string {
  const [, path = ''] =
    new RegExp(`<a [^>]*href="([^"]+)"[^>]*>(?:<svg((?!</svg>).)*</svg>)?${text}`).exec(html) ?? [];
  return path.replaceAll('&amp;', '&');
}

/** Returns the texts of the cells of each row. */
export const rowsOf = (html: string): string[][] =>
  [...html.matchAll(/<tr role="row">(.*?)<\/tr>/gs)]
    .map(([, row = '']) => [...row.matchAll(/<td [^>]*>(.*?)<\/td>/gs)])
    .filter((cells) => cells.length > 0)
    .map((cells) => cells.map(([, cell = '']) => cell.replaceAll(/<[^>]+>/g, '').trim()));

/** Returns the text of the page without its markup. */
export const textOf = ({ text }: PageResponse): string =>
  text
    .slice(text.indexOf('<main'))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');
