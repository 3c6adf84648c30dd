import { ApiClientsService } from '../../../src/modules/api-clients/index.js';
import { ApiKeysService } from '../../../src/modules/api-keys/index.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { basic, useTestApp } from '../../support/test-app.js';
import { visitorWithRole } from '../../support/pages/visitor.js';

const service = useTestApp();
const PATH = '/dashboard/production/api-credentials/keys';
const keyIn = (text: string): string => {
  const [, key = ''] = /<code>(mck_live_\w+)<\/code>/.exec(text) ?? [];
  rememberSecret(key);
  return key;
};

describe('The pages of API keys', () => {
  it('create a key, show it once, change, rotate and end it', async () => {
    const admin = await visitorWithRole(service, 'admin');
    const form = await admin.get(`${PATH}/new?profile=ci`);
    expect(form.text.match(/ checked/g)).toHaveLength(4);
    const refused = await admin.submit(`${PATH}/new`, { name: 'Deploy' });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('Deploy')]);
    const fields = {
      name: 'Deploy',
      'scopes[]': 'merchants:read',
      ip_ranges: '127.0.0.1',
      expires_in_days: '30',
    };
    const created = await admin.submit(`${PATH}/new`, fields);
    const secret = keyIn(created.text);
    expect([created.status, created.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const { clientId } = service.production;
    const statusOf = async (key: string) =>
      (await service.request('/merchants', { headers: { authorization: basic({ clientId, secret: key }) } }))
        .status;
    expect(await statusOf(secret)).toBe(200);

    const list = await admin.get(PATH);
    expect(list.text).not.toContain(secret);
    const [, own = ''] = new RegExp(`"(${PATH}/[\\w-]{36})"`).exec(list.text) ?? [];
    expect((await admin.get(own)).text).toContain('127.0.0.1/32');
    const range = await admin.fill(`${own}/edit`, {
      name: 'Deploy',
      'scopes[]': 'merchants:read',
      ip_ranges: 'office',
    });
    expect([range.status, range.text]).toEqual([400, expect.stringContaining('office')]);
    const taken = await service.app
      .get(ApiKeysService)
      .create(clientId, { name: 'Taken', scopes: ['merchants:read'] });
    rememberSecret(taken.token);
    const renamed = await admin.fill(`${own}/edit`, { name: 'Taken', 'scopes[]': 'merchants:read' });
    expect(renamed.text).toContain('The API client has another key with this name.');

    const rotated = await admin.fill(`${own}/rotate`, { overlap_hours: '1' });
    const successor = keyIn(rotated.text);
    expect([await statusOf(secret), await statusOf(successor)]).toEqual([200, 200]);
    expect((await admin.get(PATH)).text).toContain('Replaced');
    const ended = await admin.fill(`${own}/end`, {});
    expect(ended.location).toBe(`${PATH}?done=ended`);
    expect((await admin.get(PATH)).text).not.toContain('Replaced');
    expect((await admin.get(own)).text).toContain('Ended');
  });

  it('let no name of a key rewrite the sentence around it', async () => {
    const admin = await visitorWithRole(service, 'admin');
    const name = 'Reader \u202edelete everything';
    const created = await admin.fill(`${PATH}/new`, { name, 'scopes[]': 'merchants:read' });
    const secret = keyIn(created.text);
    const { clientId } = service.production;
    const headers = { authorization: basic({ clientId, secret }) };
    expect((await service.request('/mcp/tokens/create', { headers, body: {} })).status).toBe(403);
    const [row] = await service.database.query<{ id: string }>('SELECT id FROM api_key WHERE name = $1', [
      name,
    ]);
    const own = `${PATH}/${row?.id}`;
    for (const page of [PATH, own, `${own}/rotate`, `${own}/end`, '/dashboard/audit-log']) {
      const { status, text } = await admin.get(page);
      const shown = text.replaceAll(/<input type="hidden"[^>]*>/g, '');
      expect([page, status, shown.includes('\u202e')]).toEqual([page, 200, false]);
    }
    expect((await admin.get(own)).text).toContain('Reader &lt;U+202E>delete everything');
  });

  it('say that the creator of a key no longer has access', async () => {
    const admin = await visitorWithRole(service, 'admin');
    const created = await admin.fill(`${PATH}/new`, { name: 'Orphan', 'scopes[]': 'merchants:read' });
    keyIn(created.text);
    const [row] = await service.database.query<{ id: string }>(
      "SELECT id FROM api_key WHERE name = 'Orphan'",
    );
    await service.database.query('UPDATE dashboard_user SET disabled_at = now() WHERE id = $1', [
      admin.login.userId,
    ]);
    const member = await visitorWithRole(service, 'member');
    const { text } = await member.get(`${PATH}/${row?.id}`);
    expect(text).toContain('who no longer has access. The key still works.');
    expect(text).not.toContain('/edit"');
  });

  it('let owners restrict the secret to signing, and show when it was last used', async () => {
    const owner = await visitorWithRole(service, 'owner');
    const page = '/dashboard/production/api-credentials';
    await service.request('/merchants', { as: service.production });
    const restrict = `${page}/${service.production.clientId}/restrict`;
    expect((await owner.get(restrict)).text).toContain('from 127.0.0.1');
    expect((await owner.submit(restrict)).location).toBe(`${page}?done=restricted`);
    expect((await owner.get(page)).text).toContain('The secret only signs webhooks.');
    await service.app.get(ApiClientsService).restrictSecret(service.production.clientId, 'everything');
    const admin = await visitorWithRole(service, 'admin');
    expect((await admin.get(restrict)).status).toBe(403);
  });
});
