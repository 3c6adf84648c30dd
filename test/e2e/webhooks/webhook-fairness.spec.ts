import { WebhookPublisher, exampleEvent } from '../../../src/modules/webhooks/index.js';
import { eventually } from '../../support/eventually.js';
import { useTestApp } from '../../support/test-app.js';
import { addEndpoint, useReceiver } from '../../support/webhooks/webhook-receiver.js';

const SLOTS = 16;
const service = useTestApp(
  { WEBHOOK_TARGETS: 'any', WEBHOOK_CONCURRENCY: String(SLOTS) },
  { backgroundWork: true },
);
const receiver = useReceiver();
/** The responses below /dead, which are held back until the test ends. */
const held: (() => void)[] = [];

beforeEach(async () => {
  receiver.arrivals.length = 0;
  receiver.response = (response, { path }) => {
    const respond = () => response.writeHead(200).end();
    if (path.startsWith('/dead')) held.push(respond);
    else respond();
  };
});
afterEach(async () => {
  await service.database.query('DELETE FROM webhook_endpoint');
  for (const respond of held.splice(0)) respond();
  await eventually('no attempt is in flight', async () => (await attemptsLogged()) === dead().length);
  await service.database.query('DELETE FROM request_log');
});

const addPath = (clientId: string, path: string) => addEndpoint(service, clientId, receiver.url + path);
const publish = (clientId: string) =>
  service.app
    .get(WebhookPublisher)
    .publish({ clientId, environment: 'development' }, exampleEvent('CARD_UPDATED'));
const attemptsLogged = async (): Promise<number> =>
  (await service.database.query(`SELECT FROM request_log WHERE url LIKE '%/dead/%'`)).length;
const dead = () => receiver.arrivals.filter(({ path }) => path.startsWith('/dead'));

describe('Endpoints that never respond', () => {
  it('leave slots to an endpoint with a recent success of another organization', async () => {
    await addPath(service.development.clientId, '/healthy');
    await publish(service.development.clientId);
    await receiver.arrived(1, '/healthy');
    await eventually('the success is recorded', async () => {
      const rows = await service.database.query('SELECT FROM webhook_delivery');
      return rows.length === 0;
    });

    for (let count = 0; count < 2; count += 1) {
      const { clientId } = (await service.anotherOrganization()).development;
      for (let index = 0; index < 10; index += 1) await addPath(clientId, `/dead/${count}-${index}`);
      for (let index = 0; index < 4; index += 1) await publish(clientId);
    }
    await eventually('the dead endpoints use all slots that they can', () => dead().length >= SLOTS / 2);
    for (let index = 0; index < 20; index += 1) await publish(service.development.clientId);
    await receiver.arrived(21, '/healthy');
    expect(await attemptsLogged()).toBe(0);
    expect(dead()).toHaveLength(SLOTS / 2);
  });

  it('leave slots to other organizations, even if they succeeded before', async () => {
    await addPath(service.development.clientId, '/healthy');
    await publish(service.development.clientId);
    const { clientId } = (await service.anotherOrganization()).development;
    for (let index = 0; index < 10; index += 1) await addPath(clientId, `/${index}`);
    await publish(clientId);
    await eventually('the successes are recorded', async () => {
      const rows = await service.database.query('SELECT FROM webhook_lane WHERE last_success_at IS NOT NULL');
      return rows.length === 11;
    });

    await service.database.query(
      `UPDATE webhook_endpoint SET url = $2 || '/dead/' || id WHERE client_id = $1`,
      [clientId, receiver.url],
    );
    for (let index = 0; index < 4; index += 1) await publish(clientId);
    await eventually('the dead endpoints use all slots that they can', () => dead().length >= SLOTS / 2);
    for (let index = 0; index < 20; index += 1) await publish(service.development.clientId);
    await receiver.arrived(21, '/healthy');
    expect(await attemptsLogged()).toBe(0);
    expect(dead()).toHaveLength(SLOTS / 2);
  });
});
