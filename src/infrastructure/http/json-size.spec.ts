import { jsonSize } from './json-size.js';

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
