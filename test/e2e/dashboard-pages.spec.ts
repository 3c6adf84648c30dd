import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import {
  DASHBOARD_ROLES,
  permissionOf,
  type DashboardOperationName,
  type DashboardRole,
} from '../../src/infrastructure/auth/index.js';
import { PAGE_OPERATION } from '../../src/infrastructure/pages/index.js';
import { exampleEvent, WebhookPublisher } from '../../src/modules/webhooks/index.js';
import { LoginAgent } from '../support/agent-logins.js';
import { auditEntries } from '../support/audited.js';
import { someAddress } from '../support/dashboard-users.js';
import { DASHBOARD_OPERATIONS } from '../support/operations.js';
import { samlMetadata } from '../support/saml.js';
import { newLink } from '../support/sign-in-links.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { visitorWithRole, type Visitor } from '../support/visitor.js';

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';

/** A route of a page that shows or performs an operation of the dashboard API. */
interface PageRoute {
  readonly operation: DashboardOperationName;
  readonly isForm: boolean;
  /** With IDs of nothing. */
  readonly path: string;
}

let service: TestApp;
let routes: PageRoute[];
let visitors: Readonly<Record<DashboardRole, Visitor>>;

beforeAll(async () => {
  service = await startTestApp({ DASHBOARD_REQUESTS_PER_MINUTE: '1000000' });
  routes = pageRoutes();
  visitors = {
    owner: await visitorWithRole(service, 'owner'),
    admin: await visitorWithRole(service, 'admin'),
    member: await visitorWithRole(service, 'member'),
    viewer: await visitorWithRole(service, 'viewer'),
  };
});
afterAll(() => service.close());

/** Returns the routes in one environment of every page that names an operation. */
function pageRoutes(): PageRoute[] {
  const controllers = [...service.app.get(ModulesContainer).values()].flatMap((module) => [
    ...module.controllers.values(),
  ]);
  return controllers.flatMap(({ metatype }) => {
    const [base = ''] = [Reflect.getMetadata(PATH_METADATA, metatype as object) as string | string[]].flat();
    return Object.values(Object.getOwnPropertyDescriptors((metatype as { prototype: object }).prototype))
      .map(({ value }) => value as object)
      .filter((handler) => typeof handler === 'function' && Reflect.hasMetadata(PAGE_OPERATION, handler))
      .map((handler) => {
        const [own = ''] = [Reflect.getMetadata(PATH_METADATA, handler) as string | string[]].flat();
        const path = [base, own]
          .map((part) => part.replaceAll(/^\/|\/$/g, ''))
          .filter(Boolean)
          .join('/');
        return {
          operation: Reflect.getMetadata(PAGE_OPERATION, handler) as DashboardOperationName,
          isForm: Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.POST,
          path: `/${path}`
            .replace(':format', 'csv')
            .replaceAll(/:\w+/g, path.includes('merchants') ? '999999' : UNKNOWN_ID),
        };
      });
  });
}

const mayOpen = (operation: DashboardOperationName, role: DashboardRole): boolean =>
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

/** A form that performs an audited operation. */
interface AuditedForm {
  readonly operation: DashboardOperationName;
  /** Creates what the form needs. @returns the path of the form, and its fields */
  readonly prepare: () => Promise<{ path: string; fields?: Record<string, string> }>;
}

const created = async (path: string, body: object): Promise<string> => {
  const login = await service.login('owner');
  const response = await service.request<{ id: string }>(path, { body, login });
  return response.body.id;
};
const newUser = async (): Promise<string> => (await service.login('member')).userId;
const newEndpoint = async (): Promise<string> => {
  await service.database.query('DELETE FROM webhook_endpoint');
  return created('/webhook-endpoints/create', {
    environment: 'development',
    url: 'https://hooks.example.com/',
  });
};
const newConfiguration = (): Promise<string> =>
  created('/saml-configurations/create', { name: 'Okta', metadata_xml: samlMetadata() });
const ofClient = (action: string): string =>
  `/dashboard/development/api-credentials/${service.development.clientId}/${action}`;
const aMerchant = async (): Promise<number> => {
  const [row] = await service.database.query<{ id: number }>('SELECT id FROM merchant ORDER BY id LIMIT 1');
  return row?.id ?? 0;
};

const AUDITED_FORMS: readonly AuditedForm[] = [
  {
    operation: 'createUser',
    prepare: async () => ({
      path: '/dashboard/users/invitations/new',
      fields: { email: someAddress(), name: 'Grace', role: 'viewer' },
    }),
  },
  {
    operation: 'updateUser',
    prepare: async () => ({
      path: `/dashboard/users/${await newUser()}/change`,
      fields: { name: 'Grace', role: 'viewer' },
    }),
  },
  { operation: 'deleteUser', prepare: async () => ({ path: `/dashboard/users/${await newUser()}/remove` }) },
  {
    operation: 'createAccessGrant',
    prepare: async () => ({
      path: '/dashboard/access-grants/new',
      fields: {
        email: (await service.login('member')).email,
        role: 'admin',
        reason: 'A test',
        expires_in: '3600',
      },
    }),
  },
  {
    operation: 'revokeAccessGrant',
    prepare: async () => {
      const grant = { user_id: await newUser(), role: 'admin', reason: 'A test', expires_in: 3600 };
      return { path: `/dashboard/access-grants/${await created('/access-grants/create', grant)}/revoke` };
    },
  },
  {
    operation: 'createSamlConfiguration',
    prepare: async () => ({
      path: '/dashboard/single-sign-on/configurations/new',
      fields: { name: 'Okta', metadata_xml: samlMetadata() },
    }),
  },
  {
    operation: 'updateSamlConfiguration',
    prepare: async () => ({
      path: `/dashboard/single-sign-on/${await newConfiguration()}/change`,
      fields: { name: 'Renamed' },
    }),
  },
  {
    operation: 'enableSamlConfiguration',
    prepare: async () => ({ path: `/dashboard/single-sign-on/${await newConfiguration()}/enable` }),
  },
  {
    operation: 'disableSamlConfiguration',
    prepare: async () => {
      const [row] = await service.database.query<{ id: string }>(
        'SELECT id FROM saml_configuration WHERE enabled_at IS NOT NULL',
      );
      return { path: `/dashboard/single-sign-on/${row?.id}/disable` };
    },
  },
  {
    operation: 'createAllowlistedDomain',
    prepare: async () => ({ path: '/dashboard/allowed-domains/new', fields: { domain: 'example.com' } }),
  },
  {
    operation: 'deleteAllowlistedDomain',
    prepare: async () => ({
      path: `/dashboard/allowed-domains/${await created('/allowlisted-domains/create', { domain: 'example.org' })}/remove`,
    }),
  },
  {
    operation: 'hideMerchant',
    prepare: async () => ({ path: `/dashboard/development/merchants/${await aMerchant()}/hide` }),
  },
  {
    operation: 'activateMerchant',
    prepare: async () => ({ path: `/dashboard/development/merchants/${await aMerchant()}/activate` }),
  },
  {
    operation: 'updateOrganization',
    prepare: async () => ({
      path: '/dashboard/organization/second-factor',
      fields: { required: 'yes', grace_period_days: '7' },
    }),
  },
  {
    operation: 'activateOrganization',
    prepare: async () => {
      await service.database.query('UPDATE organization SET activated_at = NULL');
      return { path: '/dashboard/organization/activate' };
    },
  },
  {
    operation: 'updateApiClient',
    prepare: async () => ({ path: ofClient('rename'), fields: { name: 'Shop' } }),
  },
  { operation: 'viewApiSecret', prepare: async () => ({ path: ofClient('view') }) },
  {
    operation: 'rotateApiSecret',
    prepare: async () => ({ path: ofClient('rotate'), fields: { overlap_hours: '24' } }),
  },
  { operation: 'activateApiSecret', prepare: async () => ({ path: ofClient('activate') }) },
  {
    operation: 'createWebhookEndpoint',
    prepare: async () => ({
      path: '/dashboard/development/webhook-endpoints/new',
      fields: { url: 'https://hooks.example.com/new' },
    }),
  },
  {
    operation: 'updateWebhookEndpoint',
    prepare: async () => ({
      path: `/dashboard/development/webhook-endpoints/${await newEndpoint()}/edit`,
      fields: { url: 'https://hooks.example.com/changed' },
    }),
  },
  {
    operation: 'deleteWebhookEndpoint',
    prepare: async () => ({ path: `/dashboard/development/webhook-endpoints/${await newEndpoint()}/delete` }),
  },
  {
    operation: 'redeliverWebhook',
    prepare: async () => {
      const client = { clientId: service.development.clientId, environment: 'development' } as const;
      const id = await service.app.get(WebhookPublisher).publish(client, exampleEvent('CARD_UPDATED'));
      // The endpoint is newer, so it has not got the event.
      return { path: `/dashboard/development/events/${id}`, fields: { endpoint_id: await newEndpoint() } };
    },
  },
  {
    operation: 'recoverWebhooks',
    prepare: async () => ({
      path: `/dashboard/development/webhook-endpoints/${await newEndpoint()}/recover`,
      fields: { since: '2026-01-31T08:00' },
    }),
  },
  {
    operation: 'updateAgentSettings',
    prepare: async () => ({
      path: '/dashboard/development/agents/settings',
      fields: { allowed_agents: 'any', allowed_hosts: '', login_url: '' },
    }),
  },
  {
    operation: 'createAgent',
    prepare: async () => ({
      path: '/dashboard/development/agents/register',
      fields: { name: 'Agent', redirect_uris: 'https://agent.example.com/callback' },
    }),
  },
  {
    operation: 'deleteAgent',
    prepare: async () => {
      const agent = {
        environment: 'development',
        name: 'Agent',
        redirect_uris: ['https://agent.example.com/callback'],
      };
      return { path: `/dashboard/development/agents/${await created('/agents/create', agent)}/remove` };
    },
  },
  {
    operation: 'cancelSignInLink',
    prepare: async () => {
      const { id, agent } = await newLink(service);
      return {
        path: `/dashboard/development/sign-in-links/${id}/cancel`,
        fields: { external_user_id: agent.externalUserId },
      };
    },
  },
  {
    operation: 'disconnectAgent',
    prepare: async () => {
      await (await LoginAgent.register(service)).connect('user-1');
      const [row] = await service.database.query<{ id: string }>('SELECT id FROM agent_connection');
      return { path: `/dashboard/development/agents/connections/${row?.id}/disconnect` };
    },
  },
];

/** Audited operations without such a form: a link to a file, and a form that sends a file (organization-pages.spec.ts). */
const OTHER_PAGES = ['exportMerchants', 'updateOrganizationLogo'];

describe('Forms of the dashboard', () => {
  it('are all tested below if their operation is audited', () => {
    const audited = DASHBOARD_OPERATIONS.filter(({ action }) => action).map(({ id }) => id);
    expect([...AUDITED_FORMS.map(({ operation }) => operation), ...OTHER_PAGES].toSorted()).toEqual(
      audited.toSorted(),
    );
  });

  it.each(AUDITED_FORMS.map((form) => [form.operation, form] as const))(
    'leave the audit log entry of their operation: %s',
    async (operation, { prepare }) => {
      const action = permissionOf(operation).action;
      const { path, fields = {} } = await prepare();
      const owner = await visitorWithRole(service, 'owner');
      await owner.get('/dashboard/allowed-domains/new');
      const { status, text } = await owner.submit(path, fields);
      expect([status, status === 200 || status === 303 ? '' : text]).toEqual([status, '']);
      const [entry] = await auditEntries(service);
      expect(entry).toMatchObject({
        event: { action, outcome: { status: 'success' } },
        actor: { email: owner.login.email },
      });

      // So does an attempt without the permission.
      const viewer = await visitorWithRole(service, 'viewer');
      await viewer.get('/dashboard/development');
      expect((await viewer.submit(path, fields)).status).toBe(403);
      const [denied] = await auditEntries(service);
      expect(denied).toMatchObject({
        event: { action, outcome: { status: 'denied' } },
        actor: { email: viewer.login.email },
      });
    },
  );
});
