import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { MetadataScanner, ModulesContainer } from '@nestjs/core';
import {
  DASHBOARD_ROLES,
  permissionOf,
  type DashboardPermission,
  type DashboardRole,
} from '../../../src/infrastructure/auth/index.js';
import type { KeyedQueue } from '../../../src/infrastructure/queues/index.js';
import { PAGE_PERMISSION } from '../../../src/infrastructure/pages/index.js';
import { PageRenderer } from '../../../src/infrastructure/pages/page.renderer.js';
import { LOGIN_AGE } from '../../../src/infrastructure/auth/index.js';
import { MINUTE } from '../../../src/infrastructure/time/index.js';
import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import { exampleEvent, WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { LoginAgent } from '../../support/agents/agent-logins.js';
import { auditEntries, type AuditEntry } from '../../support/logs/audited.js';
import { moveClock } from '../../support/clock.js';
import {
  addSamlConfiguration,
  allowDomain,
  grantRole,
  loggedIn,
  openPage,
  registerAgent,
  renewLogins,
  submitForm,
  everything,
} from '../../support/pages/dashboard-forms.js';
import { someAddress } from '../../support/pages/dashboard-users.js';
import { DASHBOARD_OPERATIONS, UNKNOWN_ID } from '../../support/documents/operations.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { samlMetadata } from '../../support/logins/saml.js';
import { NETFLIX, newLink } from '../../support/merchants/sign-in-links.js';
import { useTestApp, type Login, useLogin } from '../../support/test-app.js';
import { Visitor, visitorWithRole } from '../../support/pages/visitor.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';

/** A route of a page that shows or performs an operation of the dashboard API. */
interface PageRoute {
  readonly operation: string;
  readonly isForm: boolean;
  /** With IDs of nothing. */
  readonly path: string;
}

const service = useTestApp();
let routes: PageRoute[];
let visitors: Readonly<Record<DashboardRole, Awaited<ReturnType<typeof visitorWithRole>>>>;
let owner: Login;
/** The owner of another organization. */
let otherOwner: Login;

beforeAll(async () => {
  routes = pageRoutes();
  visitors = {
    owner: await visitorWithRole(service, 'owner'),
    admin: await visitorWithRole(service, 'admin'),
    member: await visitorWithRole(service, 'member'),
    viewer: await visitorWithRole(service, 'viewer'),
  };
  owner = visitors.owner.login;
  otherOwner = await service.login('owner', (await service.anotherOrganization()).id);
});

/** Returns the routes in one environment of every page that names an operation. */
function pageRoutes(): PageRoute[] {
  const controllers = [...service.app.get(ModulesContainer).values()].flatMap((module) => [
    ...module.controllers.values(),
  ]);
  return controllers.flatMap(({ metatype }) => {
    const [base = ''] = [Reflect.getMetadata(PATH_METADATA, metatype as object) as string | string[]].flat();
    const { prototype } = metatype as { prototype: Record<string, object> };
    // Also the handlers that a page inherits.
    return new MetadataScanner()
      .getAllMethodNames(prototype)
      .map((name) => prototype[name] as object)
      .filter((handler) => Reflect.hasMetadata(PAGE_PERMISSION, handler))
      .map((handler) => {
        const [own = ''] = [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat();
        const path = [base, own]
          .map((part) => part.replaceAll(/^\/|\/$/g, ''))
          .filter(Boolean)
          .join('/');
        return {
          operation: (Reflect.getMetadata(PAGE_PERMISSION, handler) as DashboardPermission).name,
          isForm: Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.POST,
          path: `/${path}`
            .replace(':format', 'csv')
            .replaceAll(/:\w+/g, path.includes('merchants') ? '999999' : UNKNOWN_ID),
        };
      });
  });
}

const mayOpen = (operation: string, role: DashboardRole): boolean =>
  DASHBOARD_ROLES.indexOf(role) <= DASHBOARD_ROLES.indexOf(permissionOf(operation).role ?? 'viewer');

describe('Pages of the dashboard', () => {
  it('exist for every operation of the dashboard API', () => {
    const shown = new Set<string>(routes.map(({ operation }) => operation));
    expect(DASHBOARD_OPERATIONS.map(({ id }) => id).filter((id) => !shown.has(id))).toEqual([]);
  });

  it.each(DASHBOARD_ROLES)('are open to the same roles as their operations (%s)', async (role) => {
    const refused: string[] = [];
    for (const { path, isForm, operation } of routes) {
      const visitor = visitors[role];
      const { status, text } = isForm ? await visitor.submit(path) : await visitor.get(path);
      // A form that names nothing is not accepted, but not because of the role.
      const isRefused = status === 403 && text.includes('Your role does not allow this');
      if (isRefused === mayOpen(operation, role)) refused.push(`${path}: ${status}, ${operation}`);
      expect(status).toBeLessThan(500);
    }
    expect(refused).toEqual([]);
  });

  it.each([
    ['development', 'production'],
    ['production', 'development'],
  ])('link from %s to the same list in %s', async (from, to) => {
    for (const page of ['request-logs', `request-logs/${UNKNOWN_ID}`]) {
      const { text } = await visitors.owner.get(`/dashboard/${from}/${page}`);
      expect(text).toContain(`href="/dashboard/${to}/request-logs"`);
    }
  });

  it('have a navigation in a fixed order, in whichever order the modules are loaded', async () => {
    const { text } = await visitors.owner.get('/dashboard/development');
    const labels = ['Overview', 'Events', 'Agents', 'Webhook endpoints', 'Users'];
    const navigation = text.slice(text.indexOf('Activity'));
    const places = labels.map((label) => navigation.search(new RegExp(`>\\s*${label}\\s*<`)));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((left, right) => left - right));
  });

  it('lead to the login without one', async () => {
    for (const { path, isForm } of routes) {
      const { status, headers } = await fetch(service.baseUrl + path, {
        method: isForm ? 'POST' : 'GET',
        redirect: 'manual',
        // A form without any cookie comes from a browser that stores none.
        headers: { cookie: 'browser=known' },
      });
      expect([path, status, headers.get('location')?.split('?')[0]]).toEqual([path, 303, '/login']);
    }
  });

  it('accept no form without its token, or from another site', async () => {
    for (const { path, isForm } of routes) {
      // A form with a file has another media type: organization-pages.spec.ts.
      if (!isForm || path.endsWith('/logo/change')) continue;
      const stale = await visitors.owner.submit(path, { form_token: 'x' });
      expect([path, stale.status]).toEqual([path, 403]);
      const foreign = await visitors.owner.submit(path, {}, { 'sec-fetch-site': 'cross-site' });
      expect([path, foreign.status]).toEqual([path, 403]);
    }
  });

  it('link only to pages that the role may open', async () => {
    for (const role of DASHBOARD_ROLES) {
      const { text } = await visitors[role].get('/dashboard/development');
      const links = [...text.matchAll(/<nav aria-label="Main">(.*?)<\/nav>/gs)].flatMap(([, nav = '']) =>
        [...nav.matchAll(/<a href="([^"]+)"/g)].map(([, href = '']) => href),
      );
      expect(links.length).toBeGreaterThan(5);
      for (const link of links)
        expect([role, link, (await visitors[role].get(link)).status]).toEqual([role, link, 200]);
    }
  });
});

const newestEntry = async (): Promise<AuditEntry | undefined> => (await auditEntries(service))[0];

/** The ID in a path that the audit log names when the attempt is denied, and the environment. */
const targetOf = (path: string) => ({
  name: /[\da-f]{8}-[\da-f-]{27}|\b\d+\b/.exec(path)?.[0] ?? null,
  environment: path.includes('/development/') ? 'development' : 'production',
});

/** A form that performs an audited operation. */
interface AuditedForm {
  readonly operation: string;
  /** Creates what the form needs. @returns the path of the form, its fields, and the target that the audit log names */
  readonly prepare: () => Promise<{
    readonly path: string;
    readonly fields?: Record<string, string>;
    readonly target: string | null;
  }>;
  /** Whether the path or a field names something of the organization. */
  readonly isOwned?: boolean;
  /** Whether sending the form again changes and records nothing. */
  readonly isIdempotent?: boolean;
}

let number = 0;
const unique = (): string => `n${(number += 1)}`;

const newUser = () => service.login('member');
/** Deletes the other endpoints first, because an environment may have 10. */
const newEndpoint = async (): Promise<{ id: string; url: string }> => {
  await service.database.query('DELETE FROM webhook_endpoint');
  const url = `https://${unique()}.example.com/`;
  const fields = { url, all_events: 'yes' };
  const path = '/dashboard/development/webhook-endpoints/new';
  return { id: (await submitForm(service, owner, path, fields)).id, url };
};
const ofEndpoint = ({ id, url }: { id: string; url: string }, action: string, fields = {}) => ({
  path: `/dashboard/development/webhook-endpoints/${id}/${action}`,
  fields,
  target: url,
});
const disableAll = () => service.database.query('UPDATE saml_configuration SET enabled_at = NULL');
const newConfiguration = async (): Promise<{ path: string; name: string }> => {
  const name = `Okta ${unique()}`;
  return { path: `/dashboard/single-sign-on/${await addSamlConfiguration(service, owner, name)}`, name };
};
const enabledConfiguration = async (): Promise<{ path: string; name: string }> => {
  await disableAll();
  const configuration = await newConfiguration();
  await submitForm(service, owner, `${configuration.path}/enable`);
  return configuration;
};
const ofClient = (action: string) => ({
  path: `/dashboard/development/api-credentials/${service.development.clientId}/${action}`,
  target: service.development.clientId,
});
const API_KEYS = '/dashboard/development/api-credentials/keys';
const newKey = async (): Promise<{ path: string; name: string }> => {
  const { clientId } = service.development;
  await service.database.query('UPDATE api_key SET revoked_at = now()');
  const key = { name: unique(), scopes: ['merchants:read'] };
  const { stored, token } = await service.app.get(ApiKeysService).create(clientId, key);
  rememberSecret(token);
  return { path: `${API_KEYS}/${stored.id}`, name: key.name };
};
const aMerchant = async (): Promise<{ path: string; name: string }> => {
  const [row] = await service.database.query<{ id: number; name: string }>(
    `SELECT id, name FROM merchant WHERE id NOT IN (SELECT merchant_id FROM merchant_visibility) LIMIT 1`,
  );
  return { path: `/dashboard/development/merchants/${row?.id}`, name: row?.name ?? '' };
};

const AUDIT_STREAM = '/dashboard/audit-stream';

const AUDITED_FORMS: readonly AuditedForm[] = [
  {
    operation: 'createUser',
    prepare: async () => {
      await service.database.query('DELETE FROM allowlisted_domain');
      const email = someAddress();
      const fields = { email, name: 'Grace', role: 'viewer' };
      return { path: '/dashboard/users/invitations/new', fields, target: email };
    },
  },
  {
    operation: 'updateUser',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const { userId, email } = await newUser();
      const fields = { name: 'Grace', role: 'viewer' };
      return { path: `/dashboard/users/${userId}/change`, fields, target: email };
    },
  },
  {
    operation: 'deleteUser',
    isOwned: true,
    prepare: async () => {
      const { userId, email } = await newUser();
      return { path: `/dashboard/users/${userId}/remove`, target: email };
    },
  },
  {
    operation: 'createAccessGrant',
    isOwned: true,
    prepare: async () => {
      const { email } = await newUser();
      const fields = { email, role: 'admin', reason: 'A test', expires_in: '3600' };
      return { path: '/dashboard/access-grants/new', fields, target: email };
    },
  },
  {
    operation: 'revokeAccessGrant',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const user = await newUser();
      const id = await grantRole(service, owner, user);
      return { path: `/dashboard/access-grants/${id}/revoke`, target: user.email };
    },
  },
  {
    operation: 'createSsoConfiguration',
    prepare: async () => ({
      path: '/dashboard/single-sign-on/configurations/new',
      fields: { name: 'Okta', metadata_xml: samlMetadata() },
      target: 'Okta',
    }),
  },
  {
    operation: 'updateSsoConfiguration',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const { path } = await newConfiguration();
      return { path: `${path}/change`, fields: { name: 'Renamed' }, target: 'Renamed' };
    },
  },
  {
    operation: 'enableSsoConfiguration',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      await disableAll();
      const { path, name } = await newConfiguration();
      return { path: `${path}/enable`, target: name };
    },
  },
  {
    operation: 'disableSsoConfiguration',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const { path, name } = await enabledConfiguration();
      return { path: `${path}/disable`, target: name };
    },
  },
  {
    operation: 'createAllowlistedDomain',
    prepare: async () => {
      const domain = `${unique()}.example`;
      return { path: '/dashboard/allowed-domains/new', fields: { domain }, target: domain };
    },
  },
  {
    operation: 'deleteAllowlistedDomain',
    isOwned: true,
    prepare: async () => {
      const domain = `${unique()}.example`;
      const id = await allowDomain(service, owner, domain);
      return { path: `/dashboard/allowed-domains/${id}/remove`, target: domain };
    },
  },
  {
    operation: 'hideMerchant',
    isIdempotent: true,
    prepare: async () => {
      const { path, name } = await aMerchant();
      return { path: `${path}/hide`, target: name };
    },
  },
  {
    operation: 'activateMerchant',
    isIdempotent: true,
    prepare: async () => {
      const { path, name } = await aMerchant();
      await submitForm(service, owner, `${path}/hide`);
      return { path: `${path}/activate`, target: name };
    },
  },
  {
    operation: 'updateOrganization',
    isIdempotent: true,
    prepare: async () => {
      await service.database.query(
        `UPDATE organization SET second_factor_required_from = now() + interval '1 day'`,
      );
      const fields = { required: 'no', grace_period_days: '7' };
      return { path: '/dashboard/organization/second-factor', fields, target: 'Test organization' };
    },
  },
  {
    operation: 'activateOrganization',
    isIdempotent: true,
    prepare: async () => {
      await service.database.query('UPDATE organization SET activated_at = NULL');
      return { path: '/dashboard/organization/activate', target: 'Test organization' };
    },
  },
  {
    operation: 'updateApiClient',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => ({ ...ofClient('rename'), fields: { name: unique() } }),
  },
  { operation: 'viewApiSecret', isOwned: true, prepare: async () => ofClient('view') },
  {
    operation: 'rotateApiSecret',
    isOwned: true,
    prepare: async () => ({ ...ofClient('rotate'), fields: { overlap_hours: '0' } }),
  },
  {
    operation: 'restrictApiSecret',
    isOwned: true,
    prepare: async () => ofClient('restrict'),
  },
  {
    operation: 'createApiKey',
    prepare: async () => {
      const name = unique();
      const fields = { name, 'scopes[]': 'merchants:read' };
      return { path: `${API_KEYS}/new`, fields, target: name };
    },
  },
  {
    operation: 'updateApiKey',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const fields = { name: unique(), 'scopes[]': 'accounts:read', ip_ranges: '203.0.113.7, 2001:db8::/32' };
      return { path: `${(await newKey()).path}/edit`, fields, target: fields.name };
    },
  },
  {
    operation: 'rotateApiKey',
    isOwned: true,
    prepare: async () => {
      const { path, name } = await newKey();
      return { path: `${path}/rotate`, fields: { overlap_hours: '1' }, target: name };
    },
  },
  {
    operation: 'endApiKey',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const { path, name } = await newKey();
      return { path: `${path}/end`, target: name };
    },
  },
  {
    operation: 'activateApiSecret',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      for (const overlap_hours of ['0', '1'])
        await submitForm(service, owner, ofClient('rotate').path, { overlap_hours });
      return ofClient('activate');
    },
  },
  {
    operation: 'createWebhookEndpoint',
    prepare: async () => {
      await service.database.query('DELETE FROM webhook_endpoint');
      const url = `https://${unique()}.example.com/`;
      return { path: '/dashboard/development/webhook-endpoints/new', fields: { url }, target: url };
    },
  },
  {
    operation: 'updateWebhookEndpoint',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const { id } = await newEndpoint();
      const url = `https://${unique()}.example.com/`;
      return { path: `/dashboard/development/webhook-endpoints/${id}/edit`, fields: { url }, target: url };
    },
  },
  {
    operation: 'deleteWebhookEndpoint',
    isOwned: true,
    prepare: async () => {
      const { id, url } = await newEndpoint();
      return { path: `/dashboard/development/webhook-endpoints/${id}/delete`, target: url };
    },
  },
  {
    operation: 'rotateWebhookEndpointKey',
    isOwned: true,
    prepare: async () => ofEndpoint(await newEndpoint(), 'rotate-key', { signing: 'ed25519' }),
  },
  {
    operation: 'viewWebhookEndpointKey',
    isOwned: true,
    prepare: async () => {
      const endpoint = await newEndpoint();
      await submitForm(service, owner, ofEndpoint(endpoint, 'rotate-key').path, { signing: 'hmac' });
      return ofEndpoint(endpoint, 'key');
    },
  },
  {
    operation: 'activateWebhookEndpointKey',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const endpoint = await newEndpoint();
      await submitForm(service, owner, ofEndpoint(endpoint, 'rotate-key').path, { signing: 'ed25519' });
      return ofEndpoint(endpoint, 'activate-key');
    },
  },
  {
    operation: 'redeliverWebhook',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const client = { clientId: service.development.clientId, environment: 'development' } as const;
      const event = await service.app.get(WebhookPublisher).publish(client, exampleEvent('CARD_UPDATED'));
      // The endpoint is newer, so it has not got the event.
      const { id, url } = await newEndpoint();
      return { path: `/dashboard/development/events/${event}`, fields: { endpoint_id: id }, target: url };
    },
  },
  {
    operation: 'recoverWebhooks',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const { id, url } = await newEndpoint();
      const fields = { since: '2026-01-31T08:00' };
      return { path: `/dashboard/development/webhook-endpoints/${id}/recover`, fields, target: url };
    },
  },
  {
    operation: 'updateAgentSettings',
    prepare: async () => ({
      path: '/dashboard/development/agents/settings',
      fields: { allowed_agents: 'any', allowed_hosts: '', login_url: '' },
      target: null,
    }),
  },
  {
    operation: 'createAgent',
    prepare: async () => ({
      path: '/dashboard/development/agents/register',
      fields: { name: 'Agent', redirect_uris: 'https://agent.example.com/callback' },
      target: 'Agent',
    }),
  },
  {
    operation: 'deleteAgent',
    isOwned: true,
    prepare: async () => {
      const id = await registerAgent(service, owner, 'Removed Agent');
      return { path: `/dashboard/development/agents/${id}/remove`, target: 'Removed Agent' };
    },
  },
  {
    operation: 'updateAuditStream',
    prepare: async () => {
      const host = `${unique()}.example.com`;
      return { path: AUDIT_STREAM, fields: { url: `https://${host}/`, format: 'json' }, target: host };
    },
  },
  {
    operation: 'skipAuditStreamEntry',
    prepare: async () => {
      const host = `${unique()}.example.com`;
      await submitForm(service, owner, AUDIT_STREAM, { url: `https://${host}/`, format: 'json' });
      await service.database.query('UPDATE audit_stream SET refused_sequence = position + 1');
      return { path: `${AUDIT_STREAM}/skip`, target: host };
    },
  },
  {
    operation: 'deleteAuditStream',
    prepare: async () => {
      const host = `${unique()}.example.com`;
      await submitForm(service, owner, AUDIT_STREAM, { url: `https://${host}/`, format: 'json' });
      return { path: `${AUDIT_STREAM}/remove`, target: host };
    },
  },
  {
    operation: 'eraseExternalUser',
    prepare: async () => ({
      path: '/dashboard/development/external-users/erase',
      fields: { external_user_id: unique() },
      target: null,
    }),
  },
  {
    operation: 'createSignInLink',
    prepare: async () => ({
      path: '/dashboard/development/sign-in-links/create',
      fields: { external_user_id: unique(), merchant_id: String(NETFLIX.id) },
      target: NETFLIX.name,
    }),
  },
  {
    operation: 'cancelSignInLink',
    isOwned: true,
    isIdempotent: true,
    prepare: async () => {
      const { id, agent } = await newLink(service);
      const fields = { external_user_id: agent.externalUserId };
      return { path: `/dashboard/development/sign-in-links/${id}/cancel`, fields, target: NETFLIX.name };
    },
  },
  {
    operation: 'logInAsTestUser',
    isOwned: true,
    prepare: async () => {
      const path = (await LoginAgent.register(service)).authorizePath();
      const id = (await new Visitor(service).get(path)).location?.split('/').at(-1) ?? '';
      const fields = { authorization_id: id, external_user_id: unique() };
      return {
        path: '/dashboard/development/agents/log-in',
        fields,
        target: 'Test Agent (agent.example.com)',
      };
    },
  },
  {
    operation: 'disconnectAgent',
    isOwned: true,
    prepare: async () => {
      await (await LoginAgent.register(service)).connect(unique());
      const [row] = await service.database.query<{ id: string }>(
        'SELECT id FROM agent_connection ORDER BY created_at DESC LIMIT 1',
      );
      const path = `/dashboard/development/agents/connections/${row?.id}/disconnect`;
      return { path, target: 'Test Agent (agent.example.com)' };
    },
  },
];

/** Audited operations without such a form: links to files, and a form that sends a file (organization-pages.spec.ts). */
const OTHER_PAGES = ['exportAuditLog', 'exportMerchants', 'exportRequestLogs', 'updateOrganizationLogo'];

describe('Forms of the dashboard', () => {
  beforeEach(() => renewLogins(service));

  it('are all tested below if their operation is audited', () => {
    const audited = routes.map(({ operation }) => operation).filter((name) => permissionOf(name).action);
    const tested = [...AUDITED_FORMS.map(({ operation }) => operation), ...OTHER_PAGES];
    expect(tested.toSorted()).toEqual([...new Set(audited)].toSorted());
  });

  describe.each(AUDITED_FORMS)('$operation', ({ operation, prepare, isOwned, isIdempotent }) => {
    const { action } = permissionOf(operation);

    it('changes and records together, or not at all', async () => {
      const { path, fields, target } = await prepare();
      // A page with the address of the form has the form, which is sent there.
      const page = await openPage(service, owner, `${path}?${new URLSearchParams(fields)}`);
      const actions = [...page.text.matchAll(/<form [^>]*method="post" action="([^"?]+)/g)];
      if (![404, 405].includes(page.status)) expect(actions.map(([, sentTo]) => sentTo)).toContain(path);
      const before = await everything(service);
      await whileInsertsFail(service, 'audit_log', async () => {
        expect((await submitForm(service, owner, path, fields)).status).toBe(500);
      });
      expect(await everything(service)).toEqual(before);

      const { status } = await submitForm(service, owner, path, fields);
      // A form whose response has a secret, or the address of a link, leads to no other page.
      const isShown =
        /^(?:(?:view|rotate|create)Api(?:Secret|Key)|(?:view|rotate)WebhookEndpointKey|createSignInLink)$/.test(
          operation,
        );
      expect(status).toBe(isShown ? 200 : 303);
      expect(await newestEntry()).toMatchObject({
        event: { action, outcome: { status: 'success' } },
        actor: { name: 'The owner', email: owner.email },
        target: { name: target, environment: targetOf(path).environment },
        context: { ip: '127.0.0.1', user_agent: 'visitor' },
      });
      if (!isIdempotent) return;
      const done = await everything(service);
      expect((await submitForm(service, owner, path, fields)).status).toBe(status);
      expect(await everything(service)).toEqual(done);
    });

    it('is recorded if the role does not allow it', async () => {
      const { path, fields } = await prepare();
      const before = await everything(service);
      expect((await submitForm(service, visitors.viewer.login, path, fields)).status).toBe(403);
      expect(await newestEntry()).toMatchObject({
        event: { action, outcome: { status: 'denied' } },
        actor: { name: 'The viewer', email: visitors.viewer.login.email },
        // The form to send an event again is on the page of the event; the target is an endpoint.
        target: { ...targetOf(path), ...(operation === 'redeliverWebhook' && { name: null }) },
      });
      expect({ ...(await everything(service)), audit_log: '' }).toEqual({ ...before, audit_log: '' });
    });

    if (isOwned) {
      it('finds nothing of another organization', async () => {
        const { path, fields } = await prepare();
        const before = await everything(service);
        // The form for an access grant names a user by the email address.
        const expected = operation === 'createAccessGrant' ? 400 : 404;
        expect((await submitForm(service, otherOwner, path, fields)).status).toBe(expected);
        expect(await everything(service)).toEqual(before);
      });
    }
  });

  it('change nothing for unknown and malformed IDs', async () => {
    const before = await everything(service);
    const ids = [
      UNKNOWN_ID,
      'a',
      '0',
      '-1',
      '1e3',
      '99999999999999999999',
      'null',
      '%00',
      "'",
      '%F0%9F%9B%92',
    ];
    for (const { path } of routes.filter(({ isForm, path: each }) => isForm && /999999|0000-/.test(each))) {
      for (const id of ids) {
        const { status } = await submitForm(
          service,
          otherOwner,
          path.replaceAll(UNKNOWN_ID, id).replace('999999', id),
        );
        expect([path, id, [400, 404].includes(status) ? 404 : status]).toEqual([path, id, 404]);
      }
    }
    expect(await everything(service)).toEqual(before);
  });

  it('fail with 500 when a denial cannot be recorded', async () => {
    await using _table = await service.database.hide('audit_log');
    const { status } = await submitForm(service, visitors.member.login, '/dashboard/users/invitations/new');
    expect(status).toBe(500);
  });
});

describe('An old login', () => {
  it.each([
    ['5 minutes', LOGIN_AGE.sensitive],
    ['an hour', LOGIN_AGE.usual],
  ])(
    'is refused after %s by exactly the forms whose operation requires a more recent one, and that is recorded',
    async (_what, age) => {
      await renewLogins(service);
      using _clock = moveClock(service, age + MINUTE);
      const visitor = visitors.owner;
      const wrong: string[] = [];
      for (const { path, isForm, operation } of routes) {
        if (!isForm || path.endsWith('/logo/change')) continue;
        // Without its token, no form changes anything.
        const { location, status } = await visitor.submit(path, { form_token: 'x' });
        const { recentLogin = Infinity, action } = permissionOf(operation);
        const isRefused = location?.startsWith('/login/again?') ?? false;
        if (isRefused !== recentLogin <= age) wrong.push(`${path}: ${status} ${location}, ${operation}`);
        if (!isRefused || action === undefined) continue;
        expect([path, await newestEntry()]).toMatchObject([
          path,
          {
            event: { action, outcome: { status: 'denied' } },
            actor: { email: visitor.login.email },
            target: targetOf(path),
          },
        ]);
      }
      expect(wrong).toEqual([]);
    },
  );
});

it('lists contain nothing of other organizations', async () => {
  await renewLogins(service);
  const { email } = await newUser();
  const domain = `${unique()}.example`;
  await grantRole(service, owner, { email });
  const { name } = await newConfiguration();
  const { url } = await newEndpoint();
  await allowDomain(service, owner, domain);
  for (const [page, text] of [
    ['users', email],
    ['access-grants', email],
    ['allowed-domains', domain],
    ['single-sign-on', name],
    ['development/webhook-endpoints', url],
    ['development/api-credentials', service.development.clientId],
  ] as const) {
    const path = `/dashboard/${page}`;
    // A long value consists of parts, of which the first is shortened.
    const contains = (html: string): boolean => html.replaceAll(/<[^>]+>/g, '').includes(text);
    expect([page, contains((await openPage(service, owner, path)).text)]).toEqual([page, true]);
    const foreign = await openPage(service, otherOwner, path);
    expect([page, foreign.status, contains(foreign.text)]).toEqual([page, 200, false]);
  }
});

describe.each([
  ['development', 'production'],
  ['production', 'development'],
] as const)('A deployment pinned to %s', (pinned, other) => {
  const host = useTestApp({ PIN_ENVIRONMENT: pinned });
  const login = useLogin(host, 'owner');
  let visitor: Visitor;

  beforeAll(async () => {
    visitor = loggedIn(host, login);
    visitor.cookies.set('environment', other);
  });

  it('does not change the client of the other environment', async () => {
    for (const action of ['rename', 'view', 'rotate', 'activate']) {
      const send = (environment: 'development' | 'production', shown = environment) =>
        submitForm(
          host,
          login,
          `/dashboard/${shown}/api-credentials/${host[environment].clientId}/${action}`,
          { name: 'Renamed', overlap_hours: '0' },
        );
      expect([(await send(other)).status, (await send(other, pinned)).status]).toEqual([404, 404]);
      expect((await send(pinned)).status).toBeLessThan(400);
    }
  });

  it('has no page of the other environment', async () => {
    expect((await visitor.get('/dashboard')).location).toBe(`/dashboard/${pinned}`);
    const { text } = await visitor.get(`/dashboard/${pinned}`);
    const pages = [...text.matchAll(/href="(\/dashboard\/[a-z]+(?:\/[\w-]+)?)"/g)].map(([, path]) =>
      String(path),
    );
    expect(pages.length).toBeGreaterThan(6);
    expect(pages.filter((path) => path.startsWith(`/dashboard/${other}`))).toEqual([]);
    for (const path of new Set(pages.filter((each) => each.startsWith(`/dashboard/${pinned}`)))) {
      expect([path, (await visitor.get(path)).status]).toEqual([path, 200]);
      expect([path, (await visitor.get(path.replace(pinned, other))).status]).toEqual([path, 404]);
    }
  });
});

describe('Pages of an organization that are requested at the same time', () => {
  it('are rendered in different turns of the event loop, errors included', async () => {
    const counted = service.app.get(PageRenderer) as unknown as { renderings: KeyedQueue };
    const { renderings } = counted;
    let turn = 0;
    let isOver = false;
    const countTurns = (): void => {
      turn += 1;
      if (!isOver) setImmediate(countTurns);
    };
    countTurns();
    const turns: number[] = [];
    const keys = new Set<string>();
    counted.renderings = {
      run: (key: string, work: () => Promise<unknown>) =>
        renderings.run(key, async () => {
          const page = await work();
          keys.add(key);
          turns.push(turn);
          return page;
        }),
    } as unknown as KeyedQueue;
    const pages = Array.from({ length: 20 }, (_, index) =>
      visitors.owner.get(index % 2 ? '/dashboard/users' : `/dashboard/users/${UNKNOWN_ID}`),
    );
    const statuses = (await Promise.all(pages)).map(({ status }) => status);
    isOver = true;
    counted.renderings = renderings;
    expect(statuses.toSorted()).toEqual([...Array(10).fill(200), ...Array(10).fill(404)]);
    expect([...keys]).toEqual([owner.organizationId]);
    expect(new Set(turns).size).toBe(20);
  });
});
