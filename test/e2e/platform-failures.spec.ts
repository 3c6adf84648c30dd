import { randomUUID } from 'node:crypto';
import { useTestApp, type TestResponse } from '../support/test-app.js';

const USER = 'external_user_id=user-1';
const OPERATIONS: Readonly<Record<string, { readonly path: string; readonly method?: string }>> = {
  listMerchants: { path: '/merchants' },
  listMerchantAccounts: { path: `/merchant-accounts?${USER}` },
  listAgentConnections: { path: `/agent-connections?${USER}` },
  disconnectAgent: { path: `/agent-connections/${randomUUID()}`, method: 'DELETE' },
  listSignInLinks: { path: `/sign-in-links?${USER}` },
  cancelSignInLink: { path: `/sign-in-links/${randomUUID()}/cancel`, method: 'POST' },
};
const TABLES = { listMerchants: 'merchant_visibility', cancelSignInLink: 'sign_in_link' };

const service = useTestApp({ PLATFORM_REQUESTS_PER_MINUTE: '20' });
const send = (operation: string, isKnown = true): Promise<TestResponse> => {
  const { path, method = 'GET' } = OPERATIONS[operation] ?? { path: '/' };
  return service.request(path, { method, ...(isKnown && { as: service.development }) });
};
const codeOf = ({ status, body }: TestResponse): unknown[] => [status, body['error_code']];

describe('Operations of the platform API that dashboard pages offer, too', () => {
  it('need the credentials of a client, and know only its environment', async () => {
    expect(codeOf(await send('cancelSignInLink', false))).toEqual([401, 'INVALID_API_KEYS']);
    const other = await service.request(`/sign-in-links?${USER}&environment=production`, {
      as: service.development,
    });
    expect(codeOf(other)).toEqual([403, 'ENVIRONMENT_MISMATCH']);
    const unnamed = await service.request('/external-users/erasure', { as: service.development });
    expect(codeOf(unnamed)).toEqual([400, 'INVALID_FIELD']);
  });

  it.each(Object.entries(TABLES))(
    '%s fails with 500, and with 503 without the database',
    async (operation, table) => {
      {
        await using _table = await service.database.hide(table);
        expect(codeOf(await send(operation))).toEqual([500, 'INTERNAL_ERROR']);
      }
      await service.database.cutOff();
      const cut = await send(operation);
      await service.database.reconnect();
      expect(codeOf(cut)).toEqual([503, 'SERVICE_UNAVAILABLE']);
    },
  );

  it.each(Object.keys(OPERATIONS))('%s is limited', async (operation) => {
    for (let requests = 0; requests < 20; requests += 1) await send('listMerchants');
    expect(codeOf(await send(operation))).toEqual([429, 'TOO_MANY_REQUESTS']);
  });
});
