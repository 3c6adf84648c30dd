import { withParameters } from './path-and-query.js';

describe('withParameters', () => {
  it.each([
    ['https://a.example', 'https://a.example/?id=1+2'],
    ['https://a.example/b?', 'https://a.example/b?id=1+2'],
    ['https://a.example/b?c=d%20e+f%2b&&g', 'https://a.example/b?c=d%20e+f%2b&&g&id=1+2'],
    ['https://a.example/b?id=3&c&%69d=4&idx=5', 'https://a.example/b?c&idx=5&id=1+2'],
    ['https://a.example/ä?ö', 'https://a.example/%C3%A4?%C3%B6&id=1+2'],
  ])('keeps the query of %s, apart from parameters of these names', (address, expected) => {
    expect(withParameters(address, { id: '1 2' })).toBe(expected);
  });
});
