import fc from 'fast-check';
import { generateSecret } from '../crypto/index.js';
import { redactText } from '../logging/redaction.js';
import { describeWrongCredentials, formDecoded, readBasicCredentials } from './basic-credentials.js';

const encode = (text: string): string => Buffer.from(text).toString('base64');

describe('readBasicCredentials', () => {
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
    expect(readBasicCredentials(header)).toEqual({ clientId, secret });
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
  ])('rejects %s', (_, header) =>
    expect(readBasicCredentials(header)).toMatchObject({ message: expect.stringMatching(/Basic/) }),
  );

  it('parses any encoded credentials', () => {
    const text = fc.string({ unit: 'grapheme' });
    const clientId = text.filter((value) => !value.includes(':'));
    fc.assert(
      fc.property(clientId, text, (id, secret) => {
        expect(readBasicCredentials(`Basic ${encode(`${id}:${secret}`)}`)).toEqual({ clientId: id, secret });
      }),
    );
  });

  it('never throws', () => {
    const header = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String().map((value) => `Basic ${value}`),
    );
    fc.assert(fc.property(header, (value) => void readBasicCredentials(value)));
  });
});

describe('The problem with a header', () => {
  it.each([
    [undefined, 'no credentials', 'no Authorization header'],
    ['', 'no credentials', 'Authorization without the Basic scheme'],
    ['Bearer mcp_dev_x', 'must use the Basic scheme', 'a Bearer token where client_id and secret belong'],
    ['id:secret', 'must use the Basic scheme', 'Authorization without the Basic scheme'],
    [encode('id:secret'), 'must use the Basic scheme', 'Authorization without the Basic scheme'],
    ['Basic id:secret', 'malformed', 'credentials that are not encoded in base64'],
    [`Basic ${encode('idsecret')}`, 'malformed', 'credentials that are not base64 of client_id:secret'],
    ['Basic', 'malformed', 'credentials that are not base64 of client_id:secret'],
  ])('of %p is described to the client and in the log', (header, message, hint) => {
    expect(readBasicCredentials(header)).toEqual({ message: expect.stringContaining(message), hint });
    expect(redactText(hint)).toBe(hint);
  });

  it('never quotes the header', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z][0-9]{8}$/), (secret) => {
        for (const header of [secret, `Basic ${secret}`, `Basic id:${secret}`, `Bearer ${secret}`]) {
          expect(JSON.stringify(readBasicCredentials(header))).not.toContain(secret);
        }
      }),
    );
  });
});

describe('describeWrongCredentials', () => {
  it.each([
    ['secret', 'a secret in an unknown format, or an incomplete one'],
    [generateSecret('mcs_dev_'), 'wrong client_id or secret'],
  ])('describes the secret %p', (secret, hint) => {
    expect(describeWrongCredentials({ clientId: 'id', secret })).toBe(hint);
    expect(redactText(hint)).toBe(hint);
  });
});

describe('formDecoded', () => {
  it.each([
    ['a%20b', 'a b'],
    ['a+b', 'a+b'],
    ['%', '%'],
    ['', ''],
  ])('reads the secret %j as %j', (secret, decoded) => {
    expect(formDecoded({ clientId: 'id', secret })).toEqual({ clientId: 'id', secret: decoded });
  });
});
