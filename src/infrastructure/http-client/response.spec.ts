import { Readable } from 'node:stream';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { readDocument, readText, type ReadBody } from './response.js';

const LIMIT = 100;
const JSON_TYPE = { 'content-type': 'application/json' };

type Body = Parameters<typeof readText>[1];

async function read(
  headers: Record<string, string>,
  ...chunks: (string | Buffer)[]
): Promise<ReadBody['text']> {
  const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk))) as Body;
  return (await readText(headers, body, LIMIT)).text;
}

describe('readText', () => {
  it.each([
    'application/json',
    'APPLICATION/JSON; charset=utf-8',
    'application/problem+json',
    'application/vnd.api+json;version=1',
    'application/xml',
    'application/soap+xml',
    'text/plain',
    'text/html; charset=ISO-8859-1',
    '',
  ])('reads a body of the type %j', async (type) => {
    expect(await read({ 'content-type': type }, 'a', 'b')).toEqual({ text: 'ab', isComplete: true });
  });

  it('reads a body without a type', async () => {
    expect(await read({}, 'ä\t\r\n\u{1F600}')).toEqual({ text: 'ä\t\r\n\u{1F600}', isComplete: true });
  });

  it('reads an empty body', async () => {
    expect(await read(JSON_TYPE)).toEqual({ text: '', isComplete: true });
  });

  it.each(['image/png', 'application/octet-stream', 'application/jsonp', 'image/svg+xml', 'multipart/mixed'])(
    'is null for the type %s',
    async (type) => expect(await read({ 'content-type': type }, 'text')).toBeNull(),
  );

  it.each<[string, (text: string) => Buffer]>([
    ['identity', (text) => Buffer.from(text)],
    ['GZIP', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
    ['br', brotliCompressSync],
  ])('reads a body with the encoding %s', async (encoding, encode) => {
    const headers = { ...JSON_TYPE, 'content-encoding': encoding };
    expect(await read(headers, encode('{"ä":1}'))).toEqual({ text: '{"ä":1}', isComplete: true });
    const long = { text: 'a'.repeat(LIMIT), isComplete: false, isTooLong: true };
    expect(await read(headers, encode('a'.repeat(50_000)))).toEqual(long);
    const sent = encode([...Array(34).keys()].join());
    const part = { text: expect.stringMatching(/^0,1,2,3,/), isComplete: false };
    if (encoding !== 'identity') expect(await read(headers, sent.subarray(0, -9))).toEqual(part);
    expect(await read(headers)).toEqual({ text: '', isComplete: true });
  });

  it.each(['zstd', 'gzip, gzip', 'constructor'])(
    'is null for a body with the encoding %s',
    async (encoding) => expect(await read({ ...JSON_TYPE, 'content-encoding': encoding }, 'text')).toBeNull(),
  );

  it('is empty and not complete for a body that is not compressed as it says', async () => {
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    expect(await read(headers, 'text')).toEqual({ text: '', isComplete: false });
  });

  it.each<[string, Buffer]>([
    ['invalid UTF-8', Buffer.from([0x61, 0xff, 0x61])],
    ['half of a character at the end', Buffer.from('aä').subarray(0, 2)],
    ['a null character', Buffer.from('a\0b')],
    ['a control character', Buffer.from([0x08, 0x01, 0x12, 0x03])],
  ])('is null for %s', async (_, bytes) => expect(await read({}, bytes)).toBeNull());

  it('leaves out a character that the limit cuts', async () => {
    const body = `${'a'.repeat(LIMIT - 1)}äb`;
    expect(await read({}, body)).toMatchObject({ text: 'a'.repeat(LIMIT - 1), isComplete: false });
  });

  it.each([LIMIT, LIMIT + 1])('reads a body of %i bytes up to the limit', async (length) => {
    const text = 'a'.repeat(LIMIT);
    expect(await read({}, 'a'.repeat(length))).toEqual(
      length === LIMIT ? { text, isComplete: true } : { text, isComplete: false, isTooLong: true },
    );
  });

  it('stops reading at the limit', async () => {
    let sent = 0;
    const endless = Readable.from(
      (function* () {
        for (; sent < 1_000; sent += 1) yield Buffer.alloc(10, 'x');
      })(),
    );
    expect((await readText({}, endless as Body, LIMIT)).text).toMatchObject({ isComplete: false });
    expect(endless.destroyed).toBe(true);
    expect(sent).toBeLessThan(100);
  });

  it('returns what has arrived when the body fails', async () => {
    const failing = Readable.from(
      (function* () {
        yield Buffer.from('part');
        throw new Error('reset');
      })(),
    );
    expect((await readText({}, failing as Body, LIMIT)).text).toEqual({ text: 'part', isComplete: false });
  });
});

describe('readDocument', () => {
  const document = (headers: Record<string, string>, bytes: Buffer): Promise<ReadBody> =>
    readDocument(headers, Readable.from([bytes]) as Body, LIMIT);
  const XML = '<?xml version="1.0" encoding="ISO-8859-1"?><ä/>';

  it.each<[string, Record<string, string>, Buffer, string]>([
    ['of any media type', { 'content-type': 'application/octet-stream' }, Buffer.from('{}'), '{}'],
    ['with gzip', { 'content-encoding': 'GZip' }, gzipSync('{}'), '{}'],
    ['with deflate', { 'content-encoding': 'deflate' }, deflateSync('{}'), '{}'],
    ['with deflate without the header', { 'content-encoding': 'deflate' }, deflateRawSync('{}'), '{}'],
    ['with Brotli', { 'content-encoding': 'br' }, brotliCompressSync('{}'), '{}'],
    [
      'in Latin-1, as its type says',
      { 'content-type': 'text/xml;charset="iso-8859-1"' },
      Buffer.from('ä', 'latin1'),
      'ä',
    ],
    ['in Latin-1, as its declaration says', { 'content-type': 'text/xml' }, Buffer.from(XML, 'latin1'), XML],
    ['in UTF-16', {}, Buffer.from('\uFEFFä', 'utf16le'), 'ä'],
    [
      'with a byte order mark',
      { 'content-type': 'text/xml;charset=iso-8859-1' },
      Buffer.from('\uFEFFä'),
      'ä',
    ],
  ])('reads a document %s', async (_, headers, bytes, text) => {
    expect(await document(headers, bytes)).toEqual({ text: { text, isComplete: true }, problem: null });
  });

  it.each<[string, Record<string, string>, Buffer]>([
    ['larger than', {}, Buffer.alloc(LIMIT + 1, 'a')],
    ['larger than', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(1_000_000))],
    ['content encoding', { 'content-encoding': 'zstd' }, Buffer.from('{}')],
    ['content encoding', { 'content-encoding': 'constructor' }, Buffer.from('{}')],
    ['decompressed', { 'content-encoding': 'gzip' }, Buffer.from('{}')],
    ['not text', {}, Buffer.from([0xff, 0xff, 0xff])],
    ['not text', { 'content-type': 'text/xml; charset=unknown' }, Buffer.from('a')],
    ['not text', { 'content-type': 'application/json' }, Buffer.from([0, 1, 2])],
  ])('says that it is "%s" and not another reason', async (reason, headers, bytes) => {
    expect(await document(headers, bytes)).toEqual({ text: null, problem: expect.stringContaining(reason) });
  });
});
