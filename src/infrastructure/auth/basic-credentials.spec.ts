import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { generateSecret } from '../crypto/index.js';
import { redactText } from '../logging/redaction.js';
import {
  describeInvalidHeader,
  describeMissingCredentials,
  formatBasicCredentials,
  parseBasicCredentials,
} from './basic-credentials.js';

const encode = (text: string): string => Buffer.from(text).toString('base64');

describe('parseBasicCredentials', () => {
  it.each([
    [`Basic ${encode('id:secret')}`, 'id', 'secret'],
    [`basic ${encode('id:secret')}`, 'id', 'secret'],
    [`BASIC   ${encode('id:secret')}  `, 'id', 'secret'],
    [`Basic ${encode('id:a:b:c')}`, 'id', 'a:b:c'],
    [`Basic ${encode(':secret')}`, '', 'secret'],
    [`Basic ${encode('id:')}`, 'id', ''],
    [`Basic ${encode(':')}`, '', ''],
    [`Basic ${encode('id:pässword😀')}`, 'id', 'pässword😀'],
    [`Basic ${encode('\uFEFFid:secret')}`, '\uFEFFid', 'secret'],
  ])('parses %p', (header, clientId, secret) => {
    expect(parseBasicCredentials(header)).toEqual({ clientId, secret });
  });

  it.each([
    ['no header', undefined],
    ['an empty header', ''],
    ['a scheme alone', 'Basic'],
    ['a scheme and a space', 'Basic '],
    ['another scheme', `Bearer ${encode('id:secret')}`],
    ['a scheme with the same beginning', `Basics ${encode('id:secret')}`],
    ['no space', `Basic${encode('id:secret')}`],
    ['no colon', `Basic ${encode('idsecret')}`],
    ['credentials that are not encoded', 'Basic id:secret'],
    ['missing padding', 'Basic aWQ6cw'],
    ['too much padding', 'Basic aWQ6czE9=='],
    ['base64url', `Basic ${Buffer.from('id:\u00ff\u00fe?>').toString('base64url')}`],
    ['a space inside', 'Basic aWQ6 c2VjcmV0'],
    ['a line break inside', 'Basic aWQ6\nc2VjcmV0'],
    ['characters outside the alphabet', 'Basic aWQ6*2VjcmV0'],
    ['bytes that are not UTF-8', `Basic ${Buffer.from([0x69, 0x3a, 0xff]).toString('base64')}`],
    ['overlong UTF-8', `Basic ${Buffer.from([0x69, 0x3a, 0xc0, 0xaf]).toString('base64')}`],
    ['two values', `Basic ${encode('id:secret')}, Basic ${encode('id:secret')}`],
  ])('rejects %s', (_, header) => expect(parseBasicCredentials(header)).toBeUndefined());

  it('parses any encoded credentials', () => {
    const text = fc.string({ unit: 'grapheme' });
    const clientId = text.filter((value) => !value.includes(':'));
    fc.assert(
      fc.property(clientId, text, (id, secret) => {
        expect(parseBasicCredentials(`Basic ${encode(`${id}:${secret}`)}`)).toEqual({ clientId: id, secret });
      }),
    );
  });

  it('never throws', () => {
    const header = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String().map((value) => `Basic ${value}`),
    );
    fc.assert(fc.property(header, (value) => void parseBasicCredentials(value)));
  });
});

describe('formatBasicCredentials', () => {
  /** Parses a header with passport-http. */
  const readByPassport = (header: string): string[] =>
    Buffer.from(header.split(' ')[1] ?? '', 'base64')
      .toString()
      .split(':')
      .slice(0, 2);

  it('keeps valid credentials as they are', () => {
    const secret = generateSecret('mcs_dev_');
    const clientId = randomUUID();
    expect(readByPassport(formatBasicCredentials({ clientId, secret }))).toEqual([clientId, secret]);
  });

  it('maps different credentials to different headers without empty parts or a second colon', () => {
    const parts = fc.record({
      clientId: fc.string({ unit: 'grapheme' }),
      secret: fc.string({ unit: 'grapheme' }),
    });
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const [read, readOther] = [one, other].map((each) => readByPassport(formatBasicCredentials(each)));
        expect(read).not.toContain('');
        const isSame = one.clientId === other.clientId && one.secret === other.secret;
        expect(String(read) === String(readOther)).toBe(isSame);
      }),
    );
  });

  it.each(['', ':', 'right:', 'right:x', '%', ' right', 'right '])(
    'does not read %j as another secret',
    (secret) => {
      expect(readByPassport(formatBasicCredentials({ clientId: 'id', secret }))).not.toContain('right');
      expect(readByPassport(formatBasicCredentials({ clientId: 'id', secret }))).not.toContain('');
    },
  );
});

describe('describeMissingCredentials', () => {
  it('says nothing about credentials in the right form', () => {
    const part = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(part, part, (id, secret) => {
        expect(describeMissingCredentials(`Basic ${encode(`${id}:${secret}`)}`)).toBeUndefined();
      }),
    );
  });

  it.each([
    undefined,
    '',
    'Bearer x',
    encode('id:secret'),
    'Basic',
    'Basic id:secret',
    `Basic ${encode('id')}`,
  ])('explains %p', (header) => expect(describeMissingCredentials(header)).toMatch(/Basic/));
});

describe('describeInvalidHeader', () => {
  it.each([
    [undefined, 'no Authorization header'],
    ['Bearer mcp_dev_x', 'a Bearer token where client_id and secret belong'],
    ['id:secret', 'Authorization without the Basic scheme'],
    ['', 'Authorization without the Basic scheme'],
    ['Basic id:secret', 'credentials that are not encoded in base64'],
    [`Basic ${encode('idsecret')}`, 'credentials that are not base64 of client_id:secret'],
    ['Basic', 'credentials that are not base64 of client_id:secret'],
    [`Basic ${encode('id:secret')}`, 'a secret in an unknown format, or an incomplete one'],
  ])('describes %p as %p, which redaction leaves unchanged', (header, hint) => {
    expect(describeInvalidHeader(header)).toBe(hint);
    expect(redactText(hint)).toBe(hint);
  });

  it('never quotes the header', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z][0-9]{8}$/), (secret) => {
        for (const header of [secret, `Basic ${secret}`, `Basic id:${secret}`, `Bearer ${secret}`]) {
          expect(describeInvalidHeader(header)).not.toContain(secret);
        }
      }),
    );
  });
});
