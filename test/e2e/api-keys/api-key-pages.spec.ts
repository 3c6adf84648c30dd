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
    expect(form.text.match(/ checked/g)).toHaveLength(2);
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
    expect(rotated.text).toMatch(/The old key works until <time datetime="[^"]+" title="in 59 minutes">/);
    expect((await admin.get(PATH)).text).toContain('Replaced');
    // The old and the new key have the same name, scopes and addresses.
    const confirmation = await admin.get(`${own}/end`);
    for (const part of ['Replaced', '<dt>Created</dt>', '<dt>Created by</dt>', ' by 127.0.0.1'])
      expect(confirmation.text).toContain(part);
    const confirmed = await admin.fill(`${own}/end`, {});
    expect(confirmed.location).toBe(`${PATH}?done=ended`);
    expect((await admin.get(PATH)).text).not.toContain('Replaced');
    const ended = await admin.get(own);
    expect(ended.text).toMatch(/<dt>Ended<\/dt>\s*<dd><time datetime=/);
    expect(ended.text).not.toContain('<dt>Expires</dt>');
  });

  it('report all problems of a form at once, each at its field', async () => {
    const admin = await visitorWithRole(service, 'admin');
    const { status, text } = await admin.fill(`${PATH}/new`, { ip_ranges: '127.0.0.1, office' });
    const problemAt = (name: string): unknown =>
      new RegExp(`id="${name}-error" class="error">([^<]*)<`).exec(text)?.[1];
    expect([status, problemAt('name'), problemAt('scopes\\[\\]'), problemAt('ip_ranges')]).toEqual([
      400,
      'The “Name” field is required.',
      'The “Scopes” field is required.',
      '“office” is neither an IP address nor a range, such as 203.0.113.0/24.',
    ]);
  });

  it('offer only scopes that the environment has', async () => {
    const admin = await visitorWithRole(service, 'admin');
    const selected = async (environment: string): Promise<string[]> => {
      const page = `/dashboard/${environment}/api-credentials/keys/new?profile=read`;
      return [...(await admin.get(page)).text.matchAll(/value="([a-z_:]+)" checked/g)].map(
        ([, scope = '']) => scope,
      );
    };
    const inProduction = await selected('production');
    expect(inProduction).toContain('audit_logs:read');
    expect(await selected('development')).toEqual(
      inProduction.filter((scope) => scope !== 'audit_logs:read'),
    );
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
    const asked = await owner.get(restrict);
    expect(asked.text).toContain('from 127.0.0.1');
    expect(asked.text).toMatch(
      /A program sent the secret in the last 24 hours \(<time.*Its requests will fail/,
    );
    expect((await owner.submit(restrict)).location).toBe(`${page}?done=restricted`);
    const restricted = await owner.get(`${page}?done=restricted`);
    expect(restricted.text).toContain('The secret only signs webhooks.');
    expect(restricted.text).toContain('From now on, the secret only signs webhooks.');
    for (const outdated of [
      'with an API key or the secret',
      'Then restrict the secret',
      'let your programs send',
    ])
      expect(restricted.text).not.toContain(outdated);
    const rotate = await owner.get(`${page}/${service.production.clientId}/rotate`);
    for (const outdated of ['the old secret works too', 'requests with the old secret'])
      expect(rotate.text).not.toContain(outdated);
    expect((await owner.fill(restrict, {})).location).toBe(`${page}?done=accepted`);
    const accepted = await owner.get(`${page}?done=accepted`);
    expect(accepted.text).toContain('The secret is accepted for requests again.');
    for (const now of ['with an API key or the secret', 'let your programs send'])
      expect(accepted.text).toContain(now);
    const admin = await visitorWithRole(service, 'admin');
    expect((await admin.get(restrict)).status).toBe(403);
  });
});
