import { MerchantStatusesService } from '../../../src/modules/merchant-statuses/index.js';
import { MerchantStatusesJob } from '../../../src/modules/merchant-statuses/merchant-statuses.job.js';
import { WebhookPublisher } from '../../../src/modules/webhooks/index.js';
import { submitForm } from '../../support/pages/dashboard-forms.js';
import { whileInsertsFail } from '../../support/database/failing-inserts.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { error, invalidField, startTestApp, useTestApp } from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';

const STATUS = '/merchants/16/status';
const MERCHANT_NOT_FOUND = error('INVALID_REQUEST', 'NOT_FOUND', 'There is no merchant with this id.');

interface Status {
  readonly type: string;
  readonly status: string;
  readonly published: number;
  readonly finished_at: string | null;
}

const service = useTestApp();
let statuses: MerchantStatusesService;
let token: string;

beforeAll(async () => {
  statuses = service.app.get(MerchantStatusesService);
  ({ token } = await issueServiceToken(service, ['events:publish']));
  // With that of the service, four organizations with two clients each.
  for (let count = 0; count < 3; count += 1) await service.anotherOrganization();
});
beforeEach(() => service.database.query('TRUNCATE merchant_status, webhook_event'));

const put = (body: unknown, path = STATUS) => service.request<Status>(path, { method: 'PUT', body, token });
const list = async (): Promise<Status[]> => (await service.request<Status[]>(STATUS, { token })).body;

const publishedFor = async (): Promise<string[]> =>
  (
    await service.database.query<{ client_id: string }>(
      'SELECT client_id FROM webhook_event ORDER BY client_id',
    )
  ).map(({ client_id }) => client_id);
const allClients = async (): Promise<string[]> =>
  (await service.database.query<{ id: string }>('SELECT id FROM api_client ORDER BY id')).map(({ id }) => id);

async function publishAllPages(pageSize?: number): Promise<number> {
  let pages = 0;
  while (await statuses.publishPage({}, pageSize)) pages += 1;
  return pages;
}

describe('PUT /merchants/{id}/status', () => {
  const DOWN = { type: 'link', status: 'DOWN' };

  it('notifies every client that does not hide the merchant', async () => {
    const { clientId: hiding } = service.production;
    const login = await service.login('owner');
    const changeVisibility = (action: string) =>
      submitForm(service, login, `/dashboard/production/merchants/16/${action}`);
    await changeVisibility('hide');
    const accepted = await put(DOWN);
    expect(accepted).toMatchObject({
      status: 202,
      body: { merchant_id: 16, ...DOWN, published: 0, finished_at: null },
    });
    await publishAllPages();
    const expected = (await allClients()).filter((id) => id !== hiding);
    expect(expected).toHaveLength(7);
    expect(await publishedFor()).toEqual(expected);
    expect(await list()).toEqual([
      { ...accepted.body, published: 7, finished_at: expect.any(String) as string },
    ]);
    const [event] = await service.database.query<{ body: Buffer }>('SELECT body FROM webhook_event LIMIT 1');
    expect(JSON.parse(String(event?.body))).toEqual({
      event: 'MERCHANT_STATUS_UPDATE',
      merchant: { id: 16, name: 'Netflix' },
      data: DOWN,
      timestamp: expect.any(Number),
    });
    await changeVisibility('activate');
  });

  it('publishes nothing again if the status does not change', async () => {
    await put(DOWN);
    await publishAllPages();
    const before = await list();
    expect(await put(DOWN)).toMatchObject({ status: 202, body: before[0] });
    await publishAllPages();
    expect(await publishedFor()).toEqual(await allClients());
    await put({ ...DOWN, status: 'UP' });
    await publishAllPages();
    expect(await publishedFor()).toHaveLength(16);
  });

  it('continues after a page that failed, without notifying a client twice', async () => {
    await put(DOWN);
    expect(await statuses.publishPage({}, 3)).toBe(true);
    const publisher = service.app.get(WebhookPublisher);
    const original = publisher.publishAll.bind(publisher);
    // As if the process ended before the commit.
    publisher.publishAll = async (requests) => {
      await original(requests);
      throw new Error('The process ended');
    };
    await expect(statuses.publishPage({}, 3)).rejects.toThrow('The process ended');
    publisher.publishAll = original;
    expect(await publishedFor()).toHaveLength(3);
    expect(await list()).toMatchObject([{ published: 3, finished_at: null }]);
    expect(await publishAllPages(3)).toBe(2);
    expect(await publishedFor()).toEqual(await allClients());
  });

  it('notifies clients of other statuses although one cannot be published', async () => {
    await put(DOWN);
    await put(DOWN, '/merchants/17/status');
    await whileInsertsFail(
      service,
      'webhook_event',
      () => service.app.get(MerchantStatusesJob, { strict: false }).run(),
      `convert_from(NEW.body, 'UTF8') LIKE '%"id":16,%'`,
    );
    expect(await publishedFor()).toEqual(await allClients());
    expect(await list()).toMatchObject([{ published: 0, finished_at: null }]);
    await service.app.get(MerchantStatusesJob, { strict: false }).run();
    expect(await list()).toMatchObject([{ published: 8 }]);
  });

  it('notifies each client once, however many processes do it', async () => {
    await put(DOWN);
    await put({ ...DOWN, type: 'vault' });
    await Promise.all(Array.from({ length: 20 }, () => publishAllPages(1)));
    await publishAllPages(1);
    const clients = await allClients();
    expect(await publishedFor()).toEqual([...clients, ...clients].toSorted());
  });

  it('starts again with a status that changes in between', async () => {
    await put(DOWN);
    await statuses.publishPage({}, 3);
    await put({ ...DOWN, status: 'UP' });
    await publishAllPages();
    const count = async (status: string): Promise<number> =>
      (
        await service.database.query(
          `SELECT 1 FROM webhook_event WHERE convert_from(body, 'UTF8')::jsonb -> 'data' ->> 'status' = $1`,
          [status],
        )
      ).length;
    expect([await count('DOWN'), await count('UP')]).toEqual([3, 8]);
  });

  it.each([
    [{ status: 'UP' }, 'The type field is required.'],
    [{ type: 'link', status: 'SLOW' }, 'The selected status is invalid. Allowed values: UP, DOWN.'],
  ])('rejects %j', async (body, message) => {
    const response = await put(body);
    expect([response.status, response.body]).toEqual([400, invalidField(message)]);
  });

  it.each(['999999', '0', 'x', '99999999999'])('does not find the merchant %s', async (id) => {
    const path = `/merchants/${id}/status`;
    const response = await put(DOWN, path);
    expect([response.status, response.body]).toEqual([404, MERCHANT_NOT_FOUND]);
    expect((await service.request(path, { token })).status).toBe(404);
  });

  it.each([{ method: 'PUT', body: DOWN }, { method: 'GET' }])('returns the usual errors: %j', (options) =>
    expectUsualErrors(service, STATUS, 'merchant_status', options, { token }),
  );
});

describe('A deployment of one environment', () => {
  it('notifies the clients of both environments of the status of a merchant', async () => {
    await using pinned = await startTestApp({ PIN_ENVIRONMENT: 'production' });
    const { token: pinnedToken } = await issueServiceToken(pinned, ['events:publish']);
    await pinned.request(STATUS, {
      method: 'PUT',
      body: { type: 'link', status: 'DOWN' },
      token: pinnedToken,
    });
    await pinned.app.get(MerchantStatusesService).publishPage();
    const { body } = await pinned.request<Status[]>(STATUS, { token: pinnedToken });
    expect(body).toMatchObject([{ published: 2, finished_at: expect.any(String) }]);
  });
});
