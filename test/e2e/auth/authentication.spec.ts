import { HOUR, SECOND } from '../../../src/infrastructure/time/index.js';
import { Sealer } from '../../../src/infrastructure/crypto/index.js';
import { ApiClientsService } from '../../../src/modules/api-clients/index.js';
import { moveClock, setClock } from '../../support/clock.js';
import { logLinesOf } from '../../support/logs/log-lines.js';
import {
  BODY_OPERATIONS,
  CREATE_MCP_TOKEN,
  SESSION_OPERATIONS,
  UNKNOWN_ID,
} from '../../support/documents/operations.js';
import { sendForm } from '../../support/logins/device-flow.js';
import { rememberSecret } from '../../support/runner/run-directory.js';
import { error, startTestApp, useTestApp, type RequestOptions } from '../../support/test-app.js';

const { path: PATH, body: BODY } = CREATE_MCP_TOKEN;
/** How long a replica caches credentials. */
const CACHED_FOR = 5 * SECOND;
const INVALID_API_KEYS = error('INVALID_INPUT', 'INVALID_API_KEYS', 'Invalid client_id or secret provided.');
const NO_CREDENTIALS =
  'The request has no credentials. Send client_id and secret with the Basic scheme in the Authorization header.';
const ANOTHER_SCHEME = 'The Authorization header must use the Basic scheme, with client_id and secret.';
const REFUSED_TOKEN =
  'The Bearer token is not accepted. Send an API key, an access token that was issued for one, or client_id and secret with the Basic scheme.';
const MALFORMED = 'The Basic credentials are malformed: send the base64 encoding of client_id:secret.';

const service = useTestApp();

const base64 = (value: string | Uint8Array): string => {
  const encoded = Buffer.from(value as string).toString('base64');
  if (encoded.length > 20) rememberSecret(encoded);
  return encoded;
};

const requestWith = (options: RequestOptions, path = PATH) =>
  service.request(path, { body: BODY, ...options });

const requestWithHeader = (authorization: string | undefined, path?: string) =>
  requestWith({ headers: authorization === undefined ? {} : { authorization } }, path);

async function statusWith(clientId: string, secret: string): Promise<number> {
  rememberSecret(secret);
  return (await requestWithHeader(`Basic ${base64(`${clientId}:${secret}`)}`)).status;
}

describe('Basic credentials', () => {
  const id = () => service.development.clientId;
  const secret = () => service.development.secret;
  const right = () => `${id()}:${secret()}`;
  const encoded = () => base64(right());

  it('are accepted in each environment', async () => {
    expect((await requestWith({ as: service.development })).status).toBe(200);
    expect((await requestWith({ as: service.production })).status).toBe(200);
  });

  it.each(['basic', 'BASIC', 'bAsIc', 'Basic '])('are accepted with the scheme %s', async (scheme) => {
    expect((await requestWithHeader(`${scheme} ${encoded()}`)).status).toBe(200);
  });

  it.each<[string, () => string | undefined]>([
    ['a colon alone', () => `Basic ${base64(':')}`],
    ['no client_id', () => `Basic ${base64(`:${secret()}`)}`],
    ['no secret', () => `Basic ${base64(`${id()}:`)}`],
    ['an unknown client', () => `Basic ${base64(`00000000-0000-4000-8000-000000000000:${secret()}`)}`],
    ['a client_id that is no UUID', () => `Basic ${base64(`me:${secret()}`)}`],
    ['a client_id with U+0000', () => `Basic ${base64(`${id()}\0:${secret()}`)}`],
    ['a client_id in braces', () => `Basic ${base64(`{${id()}}:${secret()}`)}`],
    ['a client_id behind a space', () => `Basic ${base64(` ${right()}`)}`],
    ['a byte order mark before the client_id', () => `Basic ${base64(`\uFEFF${right()}`)}`],
    ['a wrong secret', () => `Basic ${base64(`${id()}:wrong`)}`],
    ['the secret in capitals', () => `Basic ${base64(`${id()}:${secret().toUpperCase()}`)}`],
    ['the secret cut short', () => `Basic ${base64(right().slice(0, -1))}`],
    ['the secret with ":x" behind', () => `Basic ${base64(`${right()}:x`)}`],
    ['the secret with ":" behind', () => `Basic ${base64(`${right()}:`)}`],
    ['the secret with a space behind', () => `Basic ${base64(`${right()} `)}`],
    ['the secret with a line end behind', () => `Basic ${base64(`${right()}\n`)}`],
    ['the secret with U+0000 behind', () => `Basic ${base64(`${right()}\0`)}`],
    ['the secret twice', () => `Basic ${base64(`${right()}${secret()}`)}`],
    ['the secret of the other environment', () => `Basic ${base64(`${id()}:${service.production.secret}`)}`],
    ['credentials of 4,000 characters', () => `Basic ${base64(`${id()}:${'x'.repeat(4_000)}`)}`],
  ])('are rejected with the same response: %s', async (_what, header) => {
    const { status, headers, body } = await requestWithHeader(header());
    expect(status).toBe(401);
    expect(body).toEqual(INVALID_API_KEYS);
    expect(headers.get('www-authenticate')).toBe('Basic realm="Platform API", charset="UTF-8"');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  });

  it.each<[string, () => string | undefined, string]>([
    ['no header', () => undefined, NO_CREDENTIALS],
    ['an empty header', () => '', NO_CREDENTIALS],
    ['the scheme alone', () => 'Basic', MALFORMED],
    ['the scheme and a space', () => 'Basic ', MALFORMED],
    ['another scheme', () => `Digest ${encoded()}`, ANOTHER_SCHEME],
    ['credentials in a Bearer token', () => `Bearer ${encoded()}`, REFUSED_TOKEN],
    ['a scheme that begins alike', () => `Basics ${encoded()}`, ANOTHER_SCHEME],
    ['no scheme', () => encoded(), ANOTHER_SCHEME],
    ['no space behind the scheme', () => `Basic${encoded()}`, ANOTHER_SCHEME],
    ['text that is not encoded', () => `Basic ${right()}`, MALFORMED],
    ['no base64', () => 'Basic !!!!', MALFORMED],
    ['base64 without its padding', () => `Basic ${encoded().replaceAll('=', '')}`, MALFORMED],
    ['base64 with more padding', () => `Basic ${encoded()}=`, MALFORMED],
    ['base64 with something behind', () => `Basic ${encoded()}AAAA`, MALFORMED],
    ['base64 in two words', () => `Basic ${encoded().slice(0, 20)} ${encoded().slice(20)}`, MALFORMED],
    ['base64 with a bit set that belongs to no byte', () => `Basic ${withStrayBit(encoded())}`, MALFORMED],
    ['base64 of the URL alphabet', () => `Basic ${base64(`${id()}:>>>???`).replaceAll('/', '_')}`, MALFORMED],
    ['bytes that are not UTF-8', () => `Basic ${base64(Buffer.from([0x61, 0x3a, 0xff, 0xfe]))}`, MALFORMED],
    ['no colon', () => `Basic ${base64(id())}`, MALFORMED],
    ['a second credential behind a comma', () => `Basic ${encoded()}, Basic ${encoded()}`, MALFORMED],
  ])('are explained if they are not in the right form: %s', async (_what, header, message) => {
    const { status, headers, body } = await requestWithHeader(header());
    expect([status, body]).toEqual([401, error('INVALID_INPUT', 'INVALID_API_KEYS', message)]);
    expect(headers.get('www-authenticate')).toBe('Basic realm="Platform API", charset="UTF-8"');
  });

  it.each([
    ['is wrong', () => 'wrong'],
    ['is empty', () => ''],
    ['contains a colon', (right: string) => `${right}:x`],
  ])('appear in the log of the client when the secret %s', async (_what, change) => {
    const { clientId, secret: correct } = (await service.anotherOrganization()).development;
    const { status } = await requestWithHeader(`Basic ${base64(`${clientId}:${change(correct)}`)}`);
    expect(status).toBe(401);
    const entries = await service.database.query('SELECT status_code FROM request_log WHERE client_id = $1', [
      clientId,
    ]);
    expect(entries).toEqual([{ status_code: 401 }]);
  });

  it('may be form-encoded at OAuth endpoints, but not the colon between them', async () => {
    const introspect = async (credentials: string): Promise<number> => {
      const headers = { authorization: `Basic ${base64(credentials)}` };
      return (await sendForm(service, '/oauth/introspect', { token: 'unknown' }, { headers })).status;
    };
    const encodedId = id().replaceAll('-', '%2D');
    expect(await introspect(`${encodedId}:${secret()}`)).toBe(200);
    expect(await introspect(`${id()}%3A${secret()}:${secret()}`)).toBe(401);
    expect(await introspect(`${id()}:${secret()}%3A`)).toBe(401);
  });

  it('are rejected with the secret of another organization', async () => {
    const otherOrganization = await service.anotherOrganization();
    expect(await statusWith(id(), otherOrganization.development.secret)).toBe(401);
    expect(await statusWith(otherOrganization.development.clientId, secret())).toBe(401);
  });

  it('are rejected with a wrong secret directly after the correct one', async () => {
    expect(await statusWith(id(), secret())).toBe(200);
    expect(await statusWith(id(), `${secret()}x`)).toBe(401);
    expect(await statusWith(id(), secret())).toBe(200);
  });

  it.each([...BODY_OPERATIONS, ...SESSION_OPERATIONS].filter(({ credentials }) => credentials === 'basic'))(
    'are checked by $id before the body',
    async ({ path }) => {
      for (const body of [BODY, 'not json', { external_user_id: 'x'.repeat(600_000) }]) {
        const { status, headers, body: response } = await service.request(path, { body });
        expect(status).toBe(401);
        expect(response).toEqual(error('INVALID_INPUT', 'INVALID_API_KEYS', NO_CREDENTIALS));
        expect(headers.get('www-authenticate')).toMatch(/^Basic /);
      }
    },
  );

  it('are not required for unknown paths', async () => {
    for (const path of ['/mcp/tokens/unknown', '/session', '/detected-accounts']) {
      const { status, headers } = await requestWithHeader(undefined, path);
      expect(status).toBe(404);
      expect(headers.has('www-authenticate')).toBe(false);
    }
  });

  it.each<[string, () => string | undefined, RegExp]>([
    ['no header', () => undefined, /no Authorization header/],
    ['a Bearer token', () => 'Bearer abcdefghijkl', /Bearer/],
    ['another scheme', () => 'Digest x', /scheme/],
    ['bare credentials', () => `Basic ${right()}`, /not encoded/],
    ['nonsense', () => 'Basic %%%', /not base64/],
    ['a wrong secret', () => `Basic ${base64(`${id()}:wrong`)}`, /unknown format, or an incomplete one/],
  ])(
    'describe the mistake in the log, and what is wrong with a secret only there: %s',
    async (_what, header, hint) => {
      const { headers, body } = await requestWithHeader(header());
      expect(body['error_message']).not.toMatch(/unknown format|incomplete/);
      const lines = logLinesOf(headers.get('x-request-id'));
      expect(lines).toEqual([expect.objectContaining({ message: 'request', status: 401 })]);
      // The hint itself, not its redacted form.
      expect(lines[0]?.['hint']).toMatch(hint);
      expect(lines[0]?.['hint']).not.toContain('[REDACTED]');
    },
  );
});

describe('Rotation of a secret', () => {
  const clients = () => service.app.get(ApiClientsService);
  const rotate = async (clientId: string, overlapHours?: number): Promise<string> => {
    const { secret } = await clients().rotateSecret(clientId, overlapHours);
    rememberSecret(secret);
    return secret;
  };
  const freshClient = async () => (await service.anotherOrganization()).development;

  async function later(milliseconds: number, check: () => Promise<void>): Promise<void> {
    using _clock = moveClock(service, milliseconds);
    await check();
  }

  it('without overlap rejects the old secret within five seconds, also if the clock is set back meanwhile', async () => {
    const { clientId, secret: old } = await freshClient();
    expect(await statusWith(clientId, old)).toBe(200);
    const secret = await rotate(clientId, 0);
    using _clock = setClock(service, -HOUR, CACHED_FOR + 1);
    expect([await statusWith(clientId, old), await statusWith(clientId, secret)]).toEqual([401, 200]);
  });

  it('without overlap rejects the old secret within five seconds', async () => {
    const { clientId, secret: old } = await freshClient();
    expect(await statusWith(clientId, old)).toBe(200);
    const secret = await rotate(clientId, 0);
    expect(await statusWith(clientId, secret)).toBe(200);
    await later(CACHED_FOR + 1, async () => {
      expect([await statusWith(clientId, old), await statusWith(clientId, secret)]).toEqual([401, 200]);
    });
  });

  it('without overlap also ends a rotation in progress', async () => {
    const { clientId, secret: leaked } = await freshClient();
    const second = await rotate(clientId, 168);
    const third = await rotate(clientId, 0);
    expect([
      await statusWith(clientId, leaked),
      await statusWith(clientId, second),
      await statusWith(clientId, third),
    ]).toEqual([401, 401, 200]);
  });

  it('is rejected during another rotation and possible afterwards', async () => {
    const { clientId, secret: old } = await freshClient();
    const second = await rotate(clientId, 1);
    await expect(clients().rotateSecret(clientId)).rejects.toThrow('A rotation is in progress');
    expect([await statusWith(clientId, old), await statusWith(clientId, second)]).toEqual([200, 200]);
    await later(HOUR + SECOND, async () => {
      const third = await rotate(clientId, 1);
      expect([
        await statusWith(clientId, old),
        await statusWith(clientId, second),
        await statusWith(clientId, third),
      ]).toEqual([401, 200, 200]);
    });
  });

  it.each([-1, 169, Number.NaN, Infinity])('rejects an overlap of %d hours', async (hours) => {
    const { clientId } = service.production;
    await expect(clients().rotateSecret(clientId, hours)).rejects.toThrow(
      'The overlap must be 0 to 168 hours',
    );
  });

  it.each([UNKNOWN_ID, 'nobody'])('is rejected for the unknown client %s', async (unknown) => {
    await expect(clients().rotateSecret(unknown)).rejects.toThrow('There is no API client');
  });
});

describe('A secret in the database', () => {
  interface SecretRow {
    id: string;
    client_id: string;
    environment: string;
    version: number;
    sealed: Buffer;
  }

  const rowOf = async (clientId: string): Promise<SecretRow> => {
    const [row] = await service.database.query<SecretRow>(
      `SELECT secret.id, client_id, environment, version, sealed
         FROM api_secret secret JOIN api_client client ON client.id = client_id
        WHERE client_id = $1 ORDER BY version`,
      [clientId],
    );
    if (!row) throw new Error('The client has no secret');
    return row;
  };
  const open = ({ id, client_id, environment, version, sealed }: SecretRow): string =>
    service.app.get(Sealer).open(sealed, ['api_secret', client_id, environment, id, String(version)]);

  it('is not readable', async () => {
    const { development, production } = await service.anotherOrganization();
    const rows = await service.database.query<Record<string, unknown>>('SELECT * FROM api_secret');
    const everything = rows
      .flatMap((row) => Object.values(row))
      .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
      .join('\n');
    expect(rows.length).toBeGreaterThanOrEqual(2);
    expect([development, production].filter(({ secret }) => everything.includes(secret))).toEqual([]);
    expect(everything).not.toMatch(/mcs_(dev|live)_/);
  });

  it('can be unsealed in its own row only', async () => {
    const { development, production } = await service.anotherOrganization();
    const rows = async () => [await rowOf(development.clientId), await rowOf(production.clientId)] as const;
    const [one, other] = await rows();
    expect(open(one) === development.secret).toBe(true);
    expect(open(other) === production.secret).toBe(true);

    await service.database.query(
      `UPDATE api_secret SET sealed = CASE id WHEN $1 THEN $3::bytea ELSE $4::bytea END WHERE id IN ($1, $2)`,
      [one.id, other.id, other.sealed, one.sealed],
    );
    for (const row of await rows()) expect(() => open(row)).toThrow();
  });

  it('cannot be unsealed after a bit has changed', async () => {
    const { development } = await service.anotherOrganization();
    const row = await rowOf(development.clientId);
    for (const position of [2, 14, Math.floor(row.sealed.length / 2), row.sealed.length - 1]) {
      const sealed = Buffer.from(row.sealed);
      sealed.writeUInt8(sealed.readUInt8(position) ^ 1, position);
      expect(() => open({ ...row, sealed })).toThrow();
    }
  });
});

describe('A deployment pinned to one environment', () => {
  it.each(['production', 'development'] as const)(
    'rejects credentials of other environments than %s',
    async (pinned) => {
      await using pinnedService = await startTestApp({ PIN_ENVIRONMENT: pinned });
      const other = pinned === 'production' ? 'development' : 'production';

      const accepted = await pinnedService.request(PATH, { body: BODY, as: pinnedService[pinned] });
      expect(accepted.status).toBe(200);
      for (const as of [pinnedService[other], { ...pinnedService[other], secret: 'wrong' }]) {
        const { status, headers, body } = await pinnedService.request(PATH, { body: BODY, as });
        expect([status, body]).toEqual([401, INVALID_API_KEYS]);
        expect(headers.has('www-authenticate')).toBe(true);
      }
      const entries = await pinnedService.database.query('SELECT client_id, environment FROM request_log');
      expect(entries).toEqual([{ client_id: pinnedService[pinned].clientId, environment: pinned }]);
    },
  );
});

/** Sets a spare bit in the last character before the padding. A lenient decoder returns the same bytes. */
function withStrayBit(encoded: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const end = encoded.indexOf('=');
  const stray = encoded.slice(0, end - 1) + alphabet.charAt(alphabet.indexOf(encoded.charAt(end - 1)) + 1);
  const changed = stray + encoded.slice(end);
  if (end < 0 || !Buffer.from(changed, 'base64').equals(Buffer.from(encoded, 'base64'))) {
    throw new Error('The credentials leave no spare bits');
  }
  rememberSecret(changed);
  return changed;
}
