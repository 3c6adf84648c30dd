import { randomBytes } from 'node:crypto';
import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { rememberSecret } from '../runner/run-directory.js';
import { NETFLIX } from '../merchants/sign-in-links.js';
import type { TestApp, TestResponse } from '../test-app.js';
import type { PageResponse, Visitor } from '../pages/visitor.js';

/** The login page of the partner. */
export const LOGIN_PAGE = 'https://shop.example.com/connect?tenant=1';

export interface BackendLink {
  readonly id: string;
  readonly status: string;
  readonly url: string;
  readonly expires_at: string;
}

export const newUser = (): string => `user-${randomBytes(6).toString('hex')}`;

/** Creates a link as the backend of a partner. */
export function createLink(
  service: TestApp,
  body: object = {},
  as = service.development,
  headers = {},
): Promise<TestResponse<BackendLink>> {
  const fields = { external_user_id: newUser(), merchant_id: NETFLIX.id, ...body };
  return service.request<BackendLink>('/sign-in-links', { body: fields, as, headers });
}

/** Returns the path of the page of a link. */
export const pathOf = ({ url }: Pick<BackendLink, 'url'>): string => new URL(url).pathname;

/** Sends the browser to the login of the partner. @returns the ID and the purpose with which it arrives there */
export async function goToLogin(
  visitor: Visitor,
  page: string,
): Promise<{ readonly id: string; readonly purpose: string }> {
  const { status, location } = await visitor.fill(page, { action: 'log_in' });
  expect({ status, location }).toEqual({ status: 303, location: expect.stringContaining(LOGIN_PAGE) });
  const { searchParams } = new URL(location ?? '');
  return { id: searchParams.get('authorization_id') ?? '', purpose: searchParams.get('purpose') ?? '' };
}

/** Completes a login as the backend of the partner. */
export async function complete(
  service: TestApp,
  id: string,
  user: string,
  as: IssuedCredentials = service.development,
): Promise<{ readonly status: number; readonly path: string }> {
  const body = { external_user_id: user };
  const path = `/mcp/authorizations/${id}/complete`;
  const response = await service.request<{ redirect_url?: string }>(path, { body, as });
  if (response.body.redirect_url === undefined) return { status: response.status, path: '' };
  const { pathname, search, searchParams } = new URL(response.body.redirect_url);
  rememberSecret(searchParams.get('ticket') ?? '');
  return { status: response.status, path: pathname + search };
}

/** Follows the redirects of the service. @returns the last page, and its path */
export async function follow(
  visitor: Visitor,
  path: string,
): Promise<{ readonly page: PageResponse; readonly path: string }> {
  const page = await visitor.get(path);
  const { location } = page;
  return page.status === 303 && location?.startsWith('/') ? follow(visitor, location) : { page, path };
}

/** Logs the browser in at the partner, as a user, for a page. @returns the page to which it returns, and its path */
export async function logInFor(
  service: TestApp,
  visitor: Visitor,
  page: string,
  user: string,
): ReturnType<typeof follow> {
  const { id } = await goToLogin(visitor, page);
  return follow(visitor, (await complete(service, id, user)).path);
}
