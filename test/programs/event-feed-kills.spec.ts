import { eventually } from '../support/eventually.js';
import { Program } from '../support/programs/program.js';
import { basic, newKeys, useTestApp } from '../support/test-app.js';

const KEYS = newKeys();
const KILLS = 4;
const PUBLISHERS = 4;
/** Events that each process accepts before it is killed. */
const EVENTS = 40;

const service = useTestApp(KEYS);
afterAll(() => Program.endAll());

async function startProcess(): Promise<{ program: Program; url: string }> {
  const program = new Program('main.js', {
    environment: { ...KEYS, DATABASE_URL: service.database.url, DATA_DIR: service.dataDirectory, PORT: '0' },
  });
  const [, url = ''] = await program.waitForOutput(/Listening on (http:\/\/[\w.]+:\d+)/);
  return { program, url };
}

interface Feed {
  readonly data: readonly { readonly id: string }[];
  readonly next_cursor: string;
}

it('The event feed has each event once and in order, although processes are killed that publish and serve it', async () => {
  const headers = { authorization: basic(service.development), 'content-type': 'application/json' };
  const published = new Set<string>();
  let running = await startProcess();
  let isDone = false;

  /** Publishes until the end, in whichever process is running. */
  const publish = async (): Promise<void> => {
    while (!isDone) {
      const body = JSON.stringify({ event: 'CARD_UPDATED', external_user_id: 'user-1' });
      const response = await fetch(`${running.url}/development/webhooks/trigger`, {
        method: 'POST',
        headers,
        body,
      }).catch(() => undefined);
      const { event_id: id } = (await response?.json().catch(() => ({}))) ?? {};
      if (id !== undefined) published.add(String(id));
    }
  };
  /** Reads until it has everything. A reader that gets no response begins again with the cursor that it has stored. */
  const found: string[] = [];
  let cursor: string | undefined;
  const read = async (): Promise<void> => {
    const query = new URLSearchParams({ wait: '1', limit: '7', ...(cursor !== undefined && { cursor }) });
    const response = await fetch(`${running.url}/webhook-events?${query}`, { headers }).catch(
      () => undefined,
    );
    const page = response?.ok
      ? ((await response.json().catch(() => undefined)) as Feed | undefined)
      : undefined;
    if (!page) return;
    found.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  };
  const reading = (async () => {
    while (!isDone || [...published].some((id) => !found.includes(id))) await read();
  })();

  const publishing = Array.from({ length: PUBLISHERS }, publish);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = published.size;
    await eventually('events are published', () => published.size - before >= EVENTS, 20_000);
    running.program.signal('SIGKILL');
    await running.program.ended;
    running = await startProcess();
  }
  isDone = true;
  await Promise.all([...publishing, reading]);

  const stored = await service.database.query<{ id: string }>(
    'SELECT id FROM webhook_event WHERE client_id = $1 ORDER BY position',
    [service.development.clientId],
  );
  // Some were stored whose responses were lost.
  while (found.length < stored.length) await read();
  expect(published.size).toBeGreaterThanOrEqual(KILLS * EVENTS);
  expect(found).toEqual(stored.map(({ id }) => id));
}, 120_000);
