import 'reflect-metadata';
import { loadConfiguration } from '../config/index.js';
import { HttpConfiguration } from './http.configuration.js';

const originsOf = (environment: Record<string, string>): readonly string[] | undefined =>
  loadConfiguration(environment).get(HttpConfiguration).corsOrigins;

describe('CORS_ORIGINS', () => {
  it.each([
    ['*', ['*']],
    ['https://a.example.com', ['https://a.example.com']],
    ['https://a.example.com, http://localhost:8080', ['https://a.example.com', 'http://localhost:8080']],
  ])('can be %s', (value, origins) => expect(originsOf({ CORS_ORIGINS: value })).toEqual(origins));

  it.each([
    'example.com',
    'https://example.com/',
    'https://example.com/path',
    'https://*.example.com',
    'HTTPS://example.com',
    'https://example.com:443',
    'null',
    'file://',
    'ftp://example.com',
    'wss://example.com',
    'https://a.example.com,,https://b.example.com',
  ])('must not be %s', (value) =>
    expect(() => originsOf({ CORS_ORIGINS: value })).toThrow(
      'CORS_ORIGINS must be `*` or a list of origins without a path, such as https://careers.example.com.',
    ),
  );
});
