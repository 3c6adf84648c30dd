import { isJson, jsonSize } from './json-size.js';

const LIMITS = { values: 5, depth: 3 };
const sizeOf = (text: string) => jsonSize(Buffer.from(text), LIMITS);

describe('jsonSize', () => {
  it.each([
    ['{"a":1,"b":2,"c":3}', 3, 1],
    ['[[[]]]', 3, 3],
    ['[{},{}]', 4, 2],
    [String.raw`{"a":"[{\"[[[[,,,,,,,,"}`, 1, 1],
    [String.raw`["\\",[`, 3, 2],
    ['é,é', 1, 0],
    [']]]]]]]', 0, 0],
    ['', 0, 0],
  ])('measures %s as %i values and %i levels', (text, values, depth) =>
    expect(sizeOf(text)).toEqual({ values, depth }),
  );

  it.each([
    ['[1,2,3,4,5,6,7,8,9]', { values: 6, depth: 1 }],
    ['[[[[[[[[', { values: 4, depth: 4 }],
  ])('stops in %s at the limit', (text, size) => expect(sizeOf(text)).toEqual(size));
});

describe('isJson', () => {
  const isParsed = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  const TEXT = String.raw` {"a" : [1, -0.5e+7, 0, "\u00e9\n\"\\é", true, false, null, {}, [], [ ]], "b": { "": "" } } `;
  const OTHERS = [
    '',
    ' ',
    ',',
    '"',
    '\\',
    '{',
    '}',
    '[',
    ']',
    ':',
    '0',
    '-',
    '.',
    'e',
    'u',
    '\t',
    '\n',
    '\u0001',
    '\v',
    'é',
  ];

  it('agrees with JSON.parse about a text in which a character is removed, replaced or added', () => {
    const changed = [...TEXT].flatMap((_, at) =>
      OTHERS.flatMap((other) =>
        [0, 1].map((removed) => TEXT.slice(0, at) + other + TEXT.slice(at + removed)),
      ),
    );
    const differing = [TEXT, ...changed].filter((text) => isJson(text) !== isParsed(text));
    expect(differing).toEqual([]);
    expect(changed.filter(isParsed).length).toBeGreaterThan(300);
  });

  it.each([
    '',
    ' ',
    '1',
    '"a',
    '"',
    '01',
    '1.',
    '1e',
    'tru',
    'nul',
    '[1,]',
    '{"a":1,}',
    '[,1]',
    '{}{}',
    '\uFEFF{}',
  ])('agrees with JSON.parse about %j', (text) => expect(isJson(text)).toBe(isParsed(text)));
});
