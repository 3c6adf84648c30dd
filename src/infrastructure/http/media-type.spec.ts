import { isMediaType } from './media-type.js';

const JSON_TYPE = /^application\/json$/i;

describe('isMediaType', () => {
  it.each([
    'application/json',
    'Application/JSON ; Charset = UTF-8',
    'application/json;charset="utf-8"',
    "application/json; charset='utf-8'",
    'application/json; charset=utf8',
    'application/json; charset=us-ascii',
    'application/json; charset=ASCII',
    'application/json; charset=unicode-1-1-utf-8',
    'application/json; charset=',
    'application/json;',
    'application/json;;charset=utf-8;',
    'application/json; odata.metadata=minimal',
    'application/json; profile="https://example.com/a;b"; charset=utf-8',
    'application/json; version=1; boundary=x',
    'application/json; x-charset=utf-16',
    'application/json, application/json',
    'application/json; charset=utf-8,application/json; charset=utf-8',
    'application/json; profile="a,b"',
  ])('accepts %s', (type) => expect(isMediaType(type, JSON_TYPE)).toBe(true));

  it.each([
    undefined,
    '',
    'application/jsonx',
    'application/json, text/plain',
    'application/json, application/json; charset=utf-16',
    'text/plain; application/json',
    'application/json; charset=utf-16',
    'application/json; version=1; charset="UTF-16"',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-88',
    'application/json charset=utf-8',
  ])('rejects %s', (type) => expect(isMediaType(type, JSON_TYPE)).toBe(false));
});
