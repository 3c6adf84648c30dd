import { randomUUID } from 'node:crypto';
import { AuditVerification } from '../../../src/modules/audit-logs/index.js';
import { addSamlConfiguration, submitForm } from '../../support/pages/dashboard-forms.js';
import { useTestApp } from '../../support/test-app.js';
import { addUserAt, newOwner, someDomain, type Owner } from '../../support/logins/single-sign-on.js';

interface Change {
  readonly field: string;
  readonly from: string | null;
  readonly to: string | null;
}

const service = useTestApp({ WEBHOOK_TARGETS: 'any' });
let owner: Owner;

beforeAll(async () => {
  owner = await newOwner(service);
});

const request = (path: string, body: object, method = 'PATCH') =>
  service.request<Record<string, unknown>>(path, { method, body, login: owner.login });

const submit = (path: string, fields: Record<string, string>) =>
  submitForm(service, owner.login, `/dashboard/${path}`, fields);

/** The changes of the newest entry, as stored. */
async function changes(): Promise<Change[] | null> {
  const [entry] = await service.database.query<{ changes: Change[] | null }>(
    'SELECT changes FROM audit_log WHERE organization_id = $1 ORDER BY sequence DESC LIMIT 1',
    [owner.organizationId],
  );
  return entry?.changes ?? null;
}

/** How many entries the audit log has. */
async function entries(): Promise<number> {
  const rows = await service.database.query('SELECT FROM audit_log WHERE organization_id = $1', [
    owner.organizationId,
  ]);
  return rows.length;
}

describe('An entry of the audit log says what changed', () => {
  it('names the fields of a user', async () => {
    const { id, email } = await addUserAt(owner, someDomain());
    await submit(`users/${id}/change`, { role: 'viewer', name: 'Grace' });
    expect(await changes()).toEqual([
      { field: 'name', from: 'Ada', to: 'Grace' },
      { field: 'role', from: 'admin', to: 'viewer' },
    ]);
    const page = await owner.visitor.get('/dashboard/audit-log');
    expect(page.text).toContain('name Ada → Grace; role admin → viewer');
    const [path = ''] = /\/dashboard\/audit-log\/entries\/[\w-]+/.exec(page.text) ?? [];
    const entry = await owner.visitor.get(path);
    expect(entry.text).toContain('<li>role admin → viewer</li>');
    expect(entry.text).toContain(email);
  });

  it('names the fields of a webhook endpoint, without the secrets in its URL', async () => {
    const created = await request(
      '/webhook-endpoints/create',
      { environment: 'development', url: 'https://hooks.example.com/a?token=s3cr3t-of-before' },
      'POST',
    );
    const path = `/webhook-endpoints/${String(created.body['id'])}`;
    const url = 'https://hooks.example.com/b?token=s3cr3t-of-after';
    await request(path, { url, events: ['CARD_UPDATED'], status: 'paused' });
    expect(await changes()).toEqual([
      {
        field: 'url',
        from: 'https://hooks.example.com/a?token=***',
        to: 'https://hooks.example.com/b?token=***',
      },
      { field: 'events', from: 'all', to: 'CARD_UPDATED' },
      { field: 'status', from: 'enabled', to: 'paused' },
    ]);
    expect(JSON.stringify(await changes())).not.toContain('s3cr3t');
  });

  it('names the fields of the organization, an API client and a SAML configuration', async () => {
    await submit('organization/second-factor', { required: 'yes', grace_period_days: '5' });
    expect(await changes()).toEqual([
      { field: 'second_factor_required_from', from: null, to: expect.stringMatching(/Z$/) },
    ]);
    await submit('organization/second-factor', { required: 'no' });
    const id = await addSamlConfiguration(service, owner.login);
    expect(await changes()).toMatchObject([
      { field: 'name', from: null, to: 'Okta' },
      { field: 'entity_id', from: null },
      { field: 'sso_url', from: null },
      { field: 'certificates', from: null },
    ]);
    await submit(`single-sign-on/${id}/change`, { name: 'Entra' });
    expect(await changes()).toEqual([{ field: 'name', from: 'Okta', to: 'Entra' }]);
  });

  it('names the single sign-on settings', async () => {
    await owner.visitor.fill('/dashboard/single-sign-on', {
      creates_users: 'yes',
      role_attribute: 'groups',
      admin_values: 'a, b',
    });
    expect(await changes()).toEqual([
      { field: 'creates_users', from: 'false', to: 'true' },
      { field: 'role_attribute', from: null, to: 'groups' },
      { field: 'admin_values', from: '', to: 'a, b' },
    ]);
  });

  it.each([
    ['an audit stream', 'audit-stream', { url: 'https://logs.example.com/', format: 'json' }],
    [
      'the settings of agents',
      'development/agents/settings',
      { allowed_agents: 'any', allowed_hosts: 'agent.example.com', login_url: '' },
    ],
  ])('is not written if %s is saved without changes', async (_what, path, fields) => {
    const before = await entries();
    for (const saved of [1, 2, 3]) {
      expect([saved, (await submit(path, fields)).status]).toEqual([saved, 303]);
      expect([saved, await entries()]).toEqual([saved, before + 1]);
    }
  });

  it.each([
    ['an audit stream', 'audit-stream', 'url', { format: 'json' }],
    ['the settings of agents', 'development/agents/settings', 'login_url', { allowed_agents: 'any' }],
  ])('does not contain the secrets in the URL of %s, but records that one changed', async (...row) => {
    const [, path, field, fields] = row;
    const save = async (url: string): Promise<Change[] | null> => {
      const before = await entries();
      expect((await submit(path, { ...fields, [field]: url })).status).toBe(303);
      expect(await entries()).toBe(before + 1);
      return changes();
    };
    const url = `https://${field.replace('_', '-')}.example.com/a`;
    await save(url);
    const masked = `${url}?token=***`;
    expect(await save(`${url}?token=s3cr3t-of-before`)).toEqual([{ field, from: url, to: masked }]);
    expect(await save(`${url}?token=s3cr3t-of-after`)).toBeNull();
    expect(await save(url)).toEqual([{ field, from: masked, to: url }]);
  });

  it('limits each value to 256 characters, also in operation 4 and the export', async () => {
    const { id } = await addUserAt(owner, someDomain());
    await submit(`users/${id}/change`, { name: 'é'.repeat(256) });
    const [change] = (await changes()) ?? [];
    expect(change?.to).toHaveLength(256);
    // A change after the first 256 characters is a change, too.
    await submit(`users/${id}/change`, { name: `${'é'.repeat(255)}e` });
    expect((await changes())?.map(({ field }) => field)).toEqual(['name']);
    const csv = await owner.visitor.get('/dashboard/audit-log/export/csv');
    expect(csv.text.split('\n')[0]).toMatch(/context\.user_agent,changes\r?$/);
    expect(csv.text).toContain('""field"":""creates_users""');
  });
});

describe('A long list in an entry of the audit log', () => {
  it('is complete, in several changes', async () => {
    const groups = Array.from({ length: 30 }, (_, index) => `group-of-admins-${index}`);
    const save = (values: readonly string[]) =>
      owner.visitor.fill('/dashboard/single-sign-on', {
        role_attribute: 'groups',
        admin_values: values.join(', '),
      });
    await save(groups);
    await save([...groups, 'everyone']);
    const parts = (await changes()) ?? [];
    const whole = (side: 'from' | 'to') => parts.flatMap((part) => part[side] ?? []).join(', ');
    expect([whole('from'), whole('to')]).toEqual([groups.join(', '), [...groups, 'everyone'].join(', ')]);
    for (const { field, to } of parts)
      expect([field, (to ?? '').length < 257]).toEqual(['admin_values', true]);
    const page = await owner.visitor.get('/dashboard/audit-log');
    const [path = ''] = /\/dashboard\/audit-log\/entries\/[\w-]+/.exec(page.text) ?? [];
    const sentence = `<li>admin values “${whole('from')}” → “${whole('to')}”</li>`;
    expect((await owner.visitor.get(path)).text).toContain(sentence);
  });
});

describe('The chain of the audit log', () => {
  const verify = () => service.app.get(AuditVerification).verify(owner.organizationId);

  it('is intact with entries with and without changes', async () => {
    expect((await verify()).flaw).toBeUndefined();
  });

  it('shows a change that was altered, removed or added later', async () => {
    const [changed] = await service.database.query<{ id: string }>(
      'SELECT id FROM audit_log WHERE organization_id = $1 AND changes IS NOT NULL LIMIT 1',
      [owner.organizationId],
    );
    const [unchanged] = await service.database.query<{ id: string }>(
      'SELECT id FROM audit_log WHERE organization_id = $1 AND changes IS NULL LIMIT 1',
      [owner.organizationId],
    );
    const added = JSON.stringify([{ field: 'role', from: 'viewer', to: randomUUID() }]);
    for (const [id, value] of [
      [changed?.id, added],
      [changed?.id, null],
      [unchanged?.id, added],
    ]) {
      const [before] = await service.database.query<{ changes: object | null }>(
        'SELECT changes FROM audit_log WHERE id = $1',
        [id],
      );
      const store = (stored: string | null) =>
        service.database.query(
          `ALTER TABLE audit_log DISABLE TRIGGER USER; UPDATE audit_log SET changes = ${
            stored === null ? 'NULL' : `'${stored}'`
          } WHERE id = '${id}'; ALTER TABLE audit_log ENABLE TRIGGER USER`,
        );
      await store(value ?? null);
      expect((await verify()).flaw).toMatchObject({ problem: 'altered', id });
      await store(before?.changes ? JSON.stringify(before.changes) : null);
      expect((await verify()).flaw).toBeUndefined();
    }
  });
});
