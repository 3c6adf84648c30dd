import type { DashboardUser } from '../../../src/modules/dashboard-users/index.js';
import { randomBytes, randomUUID } from 'node:crypto';
import { DashboardSessionsService } from '../../../src/modules/dashboard-login/index.js';
import { DashboardUsersService } from '../../../src/modules/dashboard-users/index.js';
import pg from 'pg';
import { eventually } from '../eventually.js';
import { rememberSecret } from '../runner/run-directory.js';
import type { TestApp } from '../test-app.js';

export interface TestUser {
  readonly id: string;
  readonly email: string;
  readonly password: string;
}

/** Returns a random email address. All of these addresses have the same length. */
export function someAddress(): string {
  return `${randomBytes(6).toString('hex')}@example.com`;
}

/** Adds a dashboard user without a session. */
export async function addUser(
  service: TestApp,
  organizationId = service.organizationId,
  email = someAddress(),
): Promise<TestUser> {
  const users = service.app.get(DashboardUsersService);
  const user = await users.add(await users.prepare({ organizationId, email, name: 'Ada', role: 'admin' }));
  rememberSecret(user.password);
  return user;
}

/** Opens a session of a user without the login page. */
export async function openSession(
  { app }: Pick<TestApp, 'app'>,
  { id }: { id: string },
): Promise<{ cookie: string }> {
  const origin = { ip: '127.0.0.1', userAgent: 'test' };
  const { token } = await app.get(DashboardSessionsService).open(id, 'complete', origin);
  rememberSecret(token);
  return { cookie: `session=${token}` };
}

/** The user who invites users in tests. */
export const INVITER = { name: 'Maya Okafor', email: 'maya@example.com' };

/** Adds an invited user without a password. */
export async function addInvited(
  service: TestApp,
  email = someAddress(),
): Promise<Pick<DashboardUser, 'id' | 'organizationId' | 'email' | 'role' | 'isBreakGlass'>> {
  const { organizationId } = service;
  const id = randomUUID();
  await service.database.query(
    `INSERT INTO dashboard_user (id, organization_id, email, name, role, created_at)
     VALUES ($1, $2, $3, 'Ada', 'member', now())`,
    [id, organizationId, email],
  );
  return { id, organizationId, email, role: 'member', isBreakGlass: false };
}

/**
 * Has requests change the user in this order, although all of them have checked the user before the first one changes anything.
 *
 * @param meanwhile is called while they all wait
 * @returns the response to the last request
 */
export async function changeInTurn<Response>(
  { database }: Pick<TestApp, 'database'>,
  { id }: { readonly id: string },
  requests: readonly (() => Promise<Response>)[],
  meanwhile?: () => unknown,
): Promise<Response | undefined> {
  const connection = new pg.Client({ connectionString: database.url });
  await connection.connect();
  try {
    await connection.query('BEGIN');
    await connection.query('SELECT FROM dashboard_user WHERE id = $1 FOR UPDATE', [id]);
    const responses: Promise<Response>[] = [];
    for (const request of requests) {
      responses.push(request());
      await eventually('the request waits for the user', async () => {
        const rows = await database.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        );
        return rows.length === responses.length;
      });
    }
    meanwhile?.();
    await connection.query('COMMIT');
    return (await Promise.all(responses)).at(-1);
  } finally {
    await connection.end();
  }
}

export async function disable(service: TestApp, { id }: { id: string }): Promise<void> {
  await service.database.query('UPDATE dashboard_user SET disabled_at = now() WHERE id = $1', [id]);
}

/** Returns the audit log entries of a user as `action outcome`, oldest first. */
export async function auditOf(service: TestApp, { email }: { email: string }): Promise<string[]> {
  const rows = await service.database.query<{ entry: string }>(
    `SELECT action || ' ' || outcome AS entry FROM audit_log
      WHERE actor_email = $1 ORDER BY sequence`,
    [email],
  );
  return rows.map(({ entry }) => entry);
}

export async function sessionsOf(service: TestApp, { id }: { id: string }): Promise<number> {
  const rows = await service.database.query('SELECT 1 FROM dashboard_session WHERE user_id = $1', [id]);
  return rows.length;
}
