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
    ...[
      'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
      'moz-extension://0f0c2f0e-8a3c-4b7a-9c38-3b5d3cf0a5d1',
      'safari-web-extension://0F0C2F0E-8A3C-4B7A-9C38-3B5D3CF0A5D1',
      'capacitor://localhost',
      'ionic://localhost:8100',
      'tauri://localhost',
      'app://obsidian.md',
      'vscode-webview://1a2b3c',
      'null',
    ].map((origin): [string, string[]] => [origin, [origin]]),
  ])('can be %s', (value, origins) => expect(originsOf({ CORS_ORIGINS: value })).toEqual(origins));

  it.each([
    'example.com',
    'https://example.com/',
    'https://example.com/path',
    'https://*.example.com',
    'HTTPS://example.com',
    'https://example.com:443',
    'NULL',
    'file://',
    'file://host',
    'chrome-extension://',
    'chrome-extension://abc/',
    'chrome-extension://*',
    'Capacitor://localhost',
    'capacitor:localhost',
    'app://user@host',
    'ftp://example.com',
    'wss://example.com',
    'https://a.example.com,,https://b.example.com',
  ])('must not be %s', (value) =>
    expect(() => originsOf({ CORS_ORIGINS: value })).toThrow(
      'CORS_ORIGINS must be `*` or a list of origins without a path, such as https://careers.example.com.',
    ),
  );
});
