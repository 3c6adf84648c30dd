import type { IssuedCredentials } from '../../../src/modules/api-clients/index.js';
import { DetectedAccountsImport, type ImportState } from '../../../src/modules/detected-accounts/index.js';
import { moveClock, stopClock } from '../../support/clock.js';
import { issueServiceToken } from '../../support/logins/service-tokens.js';
import { enableIdentification } from '../../support/documents/operations.js';
import { error, invalidField, useTestApp, type TestResponse } from '../../support/test-app.js';
import { expectUsualErrors } from '../../support/http/usual-errors.js';
import { watchStatements } from '../../support/database/statements.js';

const SEARCH = '/detected-accounts/search';
const IDENTIFY = '/detected_accounts/identify';
const AT = '2026-01-31T08:15:30.123Z';
const EARLIER = '2026-01-30T00:00:00.000Z';
const LATER = '2026-02-01T00:00:00.000Z';

interface Result {
  readonly name: string;
  readonly detected: boolean;
  readonly detected_at: string | null;
}

/** The result of an import, with the skipped lines. */
interface Imported extends ImportState {
  readonly skips: readonly (readonly [line: number, reason: string])[];
  readonly progress: readonly ImportState[];
}

const found = (name: string, at: string = AT): Result => ({ name, detected: true, detected_at: at });
const notFound = (name: string): Result => ({ name, detected: false, detected_at: null });

const service = useTestApp();

const search = (body: unknown, as: IssuedCredentials = service.development) =>
  service.request<Result[]>(SEARCH, { body, as });

async function searchNames(user: string, names: string[], as?: IssuedCredentials): Promise<Result[]> {
  const { status, body } = await search({ external_user_id: user, names }, as);
  expect(status).toBe(200);
  return body;
}

/** Imports these lines. Objects are converted to JSON. */
const importLines = (...lines: readonly (string | object)[]): Promise<Imported> => importWith(true, lines);

async function importWith(notify: boolean, lines: readonly (string | object)[]): Promise<Imported> {
  async function* stream(): AsyncGenerator<string> {
    for (const line of lines) yield typeof line === 'string' ? line : JSON.stringify(line);
  }
  const skips: (readonly [number, string])[] = [];
  const progress: ImportState[] = [];
  const listener = {
    skipped: (line: number, reason: string) => void skips.push([line, reason]),
    progress: (reached: ImportState) => void progress.push(reached),
  };
  const state = await service.app.get(DetectedAccountsImport).run(stream(), listener, { notify });
  return { ...state, skips, progress };
}

const detection = (user: string, merchant: string | number, at: string = AT, as = service.development) => ({
  client_id: as.clientId,
  external_user_id: user,
  ...(typeof merchant === 'number' ? { merchant_id: merchant } : { merchant }),
  detected_at: at,
});

async function detect(user: string, ...merchants: (string | number)[]): Promise<void> {
  const { skipped } = await importLines(...merchants.map((merchant) => detection(user, merchant)));
  expect(skipped).toBe(0);
}

describe('POST /detected-accounts/search', () => {
  it('returns the names unchanged and in order, including duplicates', async () => {
    await detect('order', 'Netflix', 'DoorDash');
    const names = ['door dash', 'Hulu', 'NETFLIX!', 'Netflix', 'door dash', ' Nobody’s Shop ', 'netflix'];
    expect(await searchNames('order', names)).toEqual([
      found('door dash'),
      notFound('Hulu'),
      found('NETFLIX!'),
      found('Netflix'),
      found('door dash'),
      notFound(' Nobody’s Shop '),
      found('netflix'),
    ]);
  });

  it.each([
    ['Netflix', 'Netflix.com'],
    ['Estée Lauder', 'Este\u0301e-lauder'],
    ['Disney+', 'Disney Plus'],
    ['HBO Max', 'max'],
    ['H&M', 'Hennes & Mauritz'],
    ['The Home Depot', 'home_depot'],
    ["Sam's Club", 'Sam’s Club'],
    ['Abercrombie & Fitch', 'abercrombie AND fitch'],
    ['Netflix', 'Netflix, Inc.'],
    ['Hulu', 'https://www.hulu.com/welcome'],
  ])('finds %s as "%s"', async (merchant, spelling) => {
    await detect('spellings', merchant);
    expect(await searchNames('spellings', [spelling])).toEqual([found(spelling)]);
  });

  it.each([['!!!'], ['+'], ['🛒'], ['Netflix 2'], ['Net'], ['Apple'], ['%'], ["' OR true --"]])(
    'finds nothing under "%s"',
    async (name) => {
      await detect('others', 'Netflix', 'Apple Music', 'Disney+');
      expect(await searchNames('others', [name])).toEqual([notFound(name)]);
    },
  );

  it('prefers the merchant whose name matches the whole text', async () => {
    await detect('whole', 'Booking.com');
    const names = ['Booking.com', 'Booking'];
    expect(await searchNames('whole', names)).toEqual(names.map((name) => found(name)));
    await service.database.query(`INSERT INTO merchant (id, name) VALUES (30000, 'Hulu Account')`);
    await service.database.query(
      `INSERT INTO merchant_name (match_key, merchant_id) VALUES ('huluaccount', 30000)`,
    );
    await detect('whole', 'Hulu');
    expect(await searchNames('whole', ['Hulu account', 'Hulu Inc.'])).toEqual([
      notFound('Hulu account'),
      found('Hulu Inc.'),
    ]);
    await service.database.query('DELETE FROM merchant_name WHERE merchant_id = 30000');
    await service.database.query('DELETE FROM merchant WHERE id = 30000');
  });

  it('distinguishes merchants whose names have the same beginning', async () => {
    await detect('alike', 'Uber Eats', 'YouTube TV');
    expect(await searchNames('alike', ['Uber', 'Uber Eats', 'YouTube', 'YouTube TV'])).toEqual([
      notFound('Uber'),
      found('Uber Eats'),
      notFound('YouTube'),
      found('YouTube TV'),
    ]);
  });

  it('returns no detections for an unknown user', async () => {
    await detect('seen', 'Netflix');
    for (const user of ['never seen', 'SEEN', 'seen ', 'see']) {
      expect(await searchNames(user, ['Netflix', 'Hulu'])).toEqual([notFound('Netflix'), notFound('Hulu')]);
    }
  });

  it('shows detections only to their own client', async () => {
    const otherOrganization = await service.anotherOrganization();
    await detect('shared', 'Netflix');
    expect(await searchNames('shared', ['Netflix'])).toEqual([found('Netflix')]);
    for (const other of [service.production, otherOrganization.development, otherOrganization.production]) {
      expect(await searchNames('shared', ['Netflix'], other)).toEqual([notFound('Netflix')]);
    }
    await importLines(detection('shared', 'Netflix', LATER, service.production));
    expect(await searchNames('shared', ['Netflix'], service.production)).toEqual([found('Netflix', LATER)]);
    expect(await searchNames('shared', ['Netflix'])).toEqual([found('Netflix')]);
  });

  it.each([['é'], ['😀']])('accepts 100 names of 256 code points (%s)', async (letter) => {
    const names = Array.from({ length: 100 }, () => letter.repeat(256));
    expect(await searchNames('many', names)).toEqual(names.map(notFound));
  });

  it('looks up all names in one statement', async () => {
    await detect('once', 'Netflix', 'Hulu');
    await searchNames('once', ['Netflix']);
    const statements = watchStatements(service);
    await searchNames('once', ['Netflix', 'Hulu', 'Spotify', 'netflix', '!!!', ...Array(90).fill('x')]);
    expect(statements.filter((statement) => !statement.includes('request_log'))).toHaveLength(1);
  });

  testRejections(SEARCH, 'names', () => service.development);
});

describe('POST /detected_accounts/identify', () => {
  const NO_ACCESS = error(
    'INVALID_REQUEST',
    'NO_ACCESS',
    'This client is not enabled for the operation. Contact support to arrange access.',
  );
  let enabled: IssuedCredentials;
  let notEnabled: IssuedCredentials;

  beforeAll(async () => {
    const organization = await service.anotherOrganization();
    enabled = organization.development;
    notEnabled = organization.production;
    await enableIdentification(service, enabled);
  });

  const identify = (body: unknown, as = enabled) => service.request<Result[]>(IDENTIFY, { body, as });

  it('rejects clients without access, whatever the body', async () => {
    for (const body of [{ external_user_id: 'u', name: ['Netflix'] }, {}, 'not json', [1]]) {
      const { status, body: response } = await identify(body, notEnabled);
      expect([status, response]).toEqual([403, NO_ACCESS]);
    }
  });

  it('checks the credentials before the access', async () => {
    const { status } = await identify({}, { ...notEnabled, secret: 'wrong' });
    expect(status).toBe(401);
  });

  it('responds like POST /detected-accounts/search once access is enabled', async () => {
    await importLines(detection('identified', 'Netflix', AT, enabled));
    const { status, body } = await identify({
      external_user_id: 'identified',
      name: ['net flix', 'Hulu', 'net flix'],
    });
    expect(status).toBe(200);
    expect(body).toEqual([found('net flix'), notFound('Hulu'), found('net flix')]);
  });

  it('accepts a client within five seconds after access is enabled, and only this client', async () => {
    const { development, production } = await service.anotherOrganization();
    const body = { external_user_id: 'u', name: ['Netflix'] };
    expect((await identify(body, development)).status).toBe(403);
    await enableIdentification(service, development);
    using _clock = moveClock(service, 5_001);
    expect((await identify(body, development)).status).toBe(200);
    expect((await identify(body, production)).status).toBe(403);
  });

  it('reads the names only from the field "name"', async () => {
    const { status, body } = await identify({ external_user_id: 'u', names: ['Netflix'] });
    expect([status, body]).toEqual([
      400,
      invalidField('The name field is required. The field names is not known. Did you mean name?'),
    ]);
  });

  testRejections(IDENTIFY, 'name', () => enabled);
});

describe('POST /detections', () => {
  const DETECTIONS = '/detections';
  const body = { external_user_id: 'detected', merchants: ['door dash', 16, 'Netflix'] };
  let token: string;

  beforeAll(async () => {
    ({ token } = await issueServiceToken(service, ['detections:write']));
  });

  const create = (more: object = {}) => {
    const { clientId: client_id } = service.production;
    return service.request(DETECTIONS, { body: { client_id, ...body, ...more }, token });
  };

  it('records the accounts and publishes the event', async () => {
    const { status, body: created } = await create();
    expect([status, created]).toEqual([200, { event_id: expect.any(String) as string, duplicate: false }]);
    const results = await searchNames('detected', ['DoorDash', 'Netflix', 'Hulu'], service.production);
    expect(results.map(({ detected }) => detected)).toEqual([true, true, false]);
    const { clientId } = service.production;
    expect(await detectedEvents('detected')).toEqual([{ clientId, accounts: ['DoorDash', 'Netflix'] }]);
  });

  it.each([
    [{ client_id: undefined }, 400, invalidField('The client id field is required.')],
    [{ merchants: [0] }, 400, invalidField('The merchants[0] field must be at least 1.')],
    [
      { client_id: '00000000-0000-4000-8000-000000000000' },
      404,
      error('INVALID_REQUEST', 'NOT_FOUND', 'There is no API client with this client_id.'),
    ],
    [
      { merchants: ['Netflix', 'Nobody’s Shop'] },
      404,
      error('INVALID_REQUEST', 'NOT_FOUND', 'The merchant in merchants[1] does not exist.'),
    ],
  ])('rejects %j', async (change, status, expected) => {
    const response = await create(change);
    expect([response.status, response.body]).toEqual([status, expected]);
  });

  it('publishes the event once for 20 concurrent requests with the same key and content', async () => {
    const idempotency_key = 'detection-1';
    const responses = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        create({
          external_user_id: 'repeated',
          // The same merchants in other spellings.
          merchants: index % 2 === 0 ? ['DoorDash', 16] : ['door dash', 'Netflix'],
          idempotency_key,
        }),
      ),
    );
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(responses.map(({ body: { event_id } }) => event_id)).size).toBe(1);
    expect(responses.filter(({ body: { duplicate } }) => duplicate === false)).toHaveLength(1);
    expect(await detectedEvents('repeated')).toHaveLength(1);
    const other = await create({ external_user_id: 'repeated', merchants: ['Hulu'], idempotency_key });
    expect([other.status, other.body['error_code']]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
    const [hulu] = await searchNames('repeated', ['Hulu'], service.production);
    expect(hulu?.detected).toBe(false);
  });

  it('accepts the key as a header', async () => {
    const { clientId: client_id } = service.production;
    const send = (key: string, more: object = {}) =>
      service.request(DETECTIONS, {
        body: { client_id, ...body, external_user_id: 'header', ...more },
        headers: { 'idempotency-key': key },
        token,
      });
    const first = await send('detection-2');
    expect(first.body).toMatchObject({ duplicate: false });
    const repeated = { event_id: first.body['event_id'], duplicate: true };
    expect((await send('"detection-2"')).body).toEqual(repeated);
    expect((await create({ external_user_id: 'header', idempotency_key: 'detection-2' })).body).toEqual(
      repeated,
    );
    expect(await detectedEvents('header')).toHaveLength(1);
    expect((await send('detection-2', { idempotency_key: 'detection-3' })).status).toBe(400);
    expect((await send('detection-2', { merchants: ['Hulu'] })).status).toBe(409);
  });

  it('returns the usual errors', () => {
    const { clientId: client_id } = service.production;
    return expectUsualErrors(
      service,
      DETECTIONS,
      'detected_account',
      { body: { client_id, ...body } },
      { token },
    );
  });
});

describe('Import of detections', () => {
  const rowsOf = (user: string) =>
    service.database.query<{ merchant_id: number; detected_at: Date }>(
      'SELECT merchant_id, detected_at FROM detected_account WHERE external_user_id = $1 ORDER BY merchant_id',
      [user],
    );

  it('finds a merchant by name, alias, other notation and id', async () => {
    const imported = await importLines(
      detection('by name', 'Netflix'),
      detection('by name', 'disney plus'),
      detection('by name', 'DOOR-DASH.com'),
      detection('by name', 8),
    );
    expect(imported).toMatchObject({ lines: 4, recorded: 4, skipped: 0, skips: [] });
    expect(await rowsOf('by name')).toEqual(
      [8, 9, 16, 19].map((merchant_id) => ({ merchant_id, detected_at: new Date(AT) })),
    );
  });

  it('reports and skips invalid lines, and imports the others', async () => {
    const good = detection('good', 'Netflix');
    const unknownClient = '00000000-0000-4000-8000-000000000000';
    const { skips, ...state } = await importLines(
      good,
      'not json',
      '',
      '[]',
      'null',
      '"text"',
      { ...good, client_id: undefined },
      { ...good, client_id: 'me' },
      { ...good, client_id: unknownClient },
      { ...good, external_user_id: '' },
      { ...good, external_user_id: 7 },
      { ...good, external_user_id: 'x'.repeat(257) },
      { ...good, external_user_id: 'a\0b' },
      { ...good, merchant: undefined },
      { ...good, merchant: ['Netflix'] },
      { ...good, merchant: 'Nobody’s Shop' },
      { ...good, merchant: '!!!' },
      { ...good, merchant_id: '16' },
      { ...good, merchant_id: 0 },
      { ...good, merchant_id: 2 ** 31 },
      { ...good, merchant_id: 9_999 },
      { ...good, detected_at: '2026-02-30T00:00:00Z' },
      { ...good, detected_at: 1_769_847_330 },
      '   ',
      { ...good, merchant: 'Hulu' },
    );
    expect(state).toMatchObject({ lines: 25, recorded: 2, skipped: 21 });
    expect(skips.toSorted(([left], [right]) => left - right)).toEqual([
      [2, 'The line is not valid JSON.'],
      [4, 'The line is not a JSON object.'],
      [5, 'The line is not a JSON object.'],
      [6, 'The line is not a JSON object.'],
      [7, 'The client id field is required.'],
      [8, 'The client id field must be a UUID.'],
      [9, 'There is no API client with this client_id.'],
      [10, 'The external user id field is required.'],
      [11, 'The external user id field must be a string.'],
      [12, 'The external user id field must not be greater than 256 characters.'],
      [13, 'The external user id field must not contain null characters or unpaired surrogates.'],
      [14, 'The merchant field is required when the merchant id field is not present.'],
      [15, 'The merchant field must be a string.'],
      [16, 'The merchant "Nobody’s Shop" is not known.'],
      [17, 'The merchant "!!!" is not known.'],
      [18, 'The merchant id field must be an integer.'],
      [19, 'The merchant id field must be at least 1.'],
      [20, 'The merchant id field must not be greater than 2147483647.'],
      [21, 'The merchant 9999 is not known.'],
      [22, 'The detected at field must be a date and time such as 2026-01-31T08:15:30Z.'],
      [23, 'The detected at field must be a date and time such as 2026-01-31T08:15:30Z.'],
    ]);
    expect((await rowsOf('good')).map((row) => row.merchant_id)).toEqual([8, 16]);
  });

  it('is idempotent', async () => {
    const lines = [detection('again', 'Netflix'), detection('again', 'Hulu', EARLIER)];
    await importLines(...lines);
    const rows = await rowsOf('again');
    expect(await importLines(...lines)).toMatchObject({ recorded: 2, skipped: 0 });
    expect(await rowsOf('again')).toEqual(rows);
  });

  it('keeps the earlier time, within and across imports', async () => {
    await importLines(detection('times', 16, LATER), detection('times', 'netflix', AT));
    expect(await rowsOf('times')).toEqual([{ merchant_id: 16, detected_at: new Date(AT) }]);
    await importLines(detection('times', 16, LATER));
    expect(await rowsOf('times')).toEqual([{ merchant_id: 16, detected_at: new Date(AT) }]);
    await importLines(detection('times', 16, EARLIER));
    expect(await rowsOf('times')).toEqual([{ merchant_id: 16, detected_at: new Date(EARLIER) }]);
  });

  it.each([[{}], [{ detected_at: null }]])(
    'uses the time of the import if the line has none: %j',
    async (time) => {
      const user = `no time ${JSON.stringify(time)}`;
      const { detected_at: _, ...line } = detection(user, 'Netflix');
      {
        using _clock = stopClock(service, new Date(LATER));
        expect(await importLines({ ...line, ...time })).toMatchObject({ recorded: 1, skips: [] });
      }
      expect(await rowsOf(user)).toEqual([{ merchant_id: 16, detected_at: new Date(LATER) }]);
    },
  );

  it('accepts null as merchant_id, and an uppercase client_id', async () => {
    const line = detection('null id', 'Netflix');
    const uppercase = { ...line, client_id: line.client_id.toUpperCase(), merchant_id: null };
    expect(await importLines(uppercase)).toMatchObject({ recorded: 1, skips: [] });
    expect(await rowsOf('null id')).toHaveLength(1);
  });

  it('imports thousands of lines in batches, and reports invalid ones by number', async () => {
    const lines: (string | object)[] = Array.from({ length: 3_000 }, (_, index) =>
      detection(`bulk-${index % 1_500}`, index < 1_500 ? 'Netflix' : 8),
    );
    lines[1_233] = 'broken';
    const { skips, progress, ...state } = await importLines(...lines);
    expect(state).toEqual({ lines: 3_000, recorded: 2_999, skipped: 1 });
    expect(skips).toEqual([[1_234, 'The line is not valid JSON.']]);
    expect(progress.length).toBeGreaterThan(1);
    expect(progress.at(-1)).toEqual(state);
    const [row] = await service.database.query<{ count: string }>(
      `SELECT count(*) FROM detected_account WHERE external_user_id LIKE 'bulk-%'`,
    );
    expect(row?.count).toBe('2999');
    expect(await searchNames('bulk-1499', ['Netflix', 'Hulu'])).toEqual([found('Netflix'), found('Hulu')]);
  });

  it('publishes one event for each user and batch, with the accounts that were not known', async () => {
    const { production } = await service.anotherOrganization();
    await importLines(
      detection('notified', 'DoorDash'),
      detection('notified', 'Netflix'),
      detection('notified', 'netflix'),
      detection('notified', 'Hulu', AT, production),
      detection('notified too', 'Hulu'),
    );
    const { clientId } = service.development;
    expect(await detectedEvents('notified')).toEqual(
      expect.arrayContaining([
        { clientId, accounts: ['Netflix', 'DoorDash'] },
        { clientId: production.clientId, accounts: ['Hulu'] },
      ]),
    );
    expect(await detectedEvents('notified')).toHaveLength(2);
    expect(await detectedEvents('notified too')).toEqual([{ clientId, accounts: ['Hulu'] }]);

    await importLines(detection('notified too', 'Hulu', EARLIER), detection('notified too', 'Spotify'));
    expect(await detectedEvents('notified too')).toEqual([
      { clientId, accounts: ['Hulu'] },
      { clientId, accounts: ['Spotify'] },
    ]);
  });

  it('publishes nothing if notifications are disabled', async () => {
    expect(await importWith(false, [detection('silent', 'Netflix')])).toMatchObject({ recorded: 1 });
    expect(await detectedEvents('silent')).toEqual([]);
  });

  it('accepts an empty file', async () => {
    expect(await importLines()).toMatchObject({ lines: 0, recorded: 0, skipped: 0, skips: [] });
  });
});

/** Both operations reject the same requests. Only the name of the list differs. */
function testRejections(path: string, field: 'name' | 'names', as: () => IssuedCredentials): void {
  const send = (body: object): Promise<TestResponse> => service.request(path, { body, as: as() });

  it.each<[string, unknown, string]>([
    ['missing names', undefined, ' field is required.'],
    ['null instead of names', null, ' field is required.'],
    ['an empty list of names', [], ' field is required.'],
    ['text instead of names', 'Netflix', ' field must be an array.'],
    ['an object instead of names', { 0: 'a' }, ' field must be an array.'],
    ['101 names', Array(101).fill('a'), ' field must not have more than 100 items.'],
    ['a number as a name', [7], '[0] field must be a string.'],
    ['a null name', ['a', 'b', null], '[2] field is required.'],
    ['a blank name', ['a', ' '], '[1] field is required.'],
    [
      'a name of 257 characters',
      ['a', 'é'.repeat(257)],
      '[1] field must not be greater than 256 characters.',
    ],
    ['a name with U+0000', ['a\0'], '[0] field must not contain null characters or unpaired surrogates.'],
  ])('rejects %s', async (_what, names, problem) => {
    const { status, body } = await send({ external_user_id: 'u', [field]: names });
    expect([status, body]).toEqual([400, invalidField(`The ${field}${problem}`)]);
  });

  it.each([
    [undefined, 'is required.'],
    [1, 'must be a string.'],
  ])('reports first if the user is %j', async (external_user_id, problem) => {
    const { status, body } = await send({ external_user_id, [field]: 1 });
    expect([status, body]).toEqual([400, invalidField(`The external user id field ${problem}`)]);
  });
}

/** Returns the clients and merchants of the events that were published about a user. */
async function detectedEvents(user: string): Promise<{ clientId: string; accounts: string[] }[]> {
  const rows = await service.database.query<{ client_id: string; body: Buffer }>(
    'SELECT client_id, body FROM webhook_event WHERE external_user_id = $1 ORDER BY created_at',
    [user],
  );
  return rows.map(({ client_id, body }) => {
    const { data } = JSON.parse(String(body)) as { data: { detected_accounts: { name: string }[] } };
    return { clientId: client_id, accounts: data.detected_accounts.map(({ name }) => name) };
  });
}
