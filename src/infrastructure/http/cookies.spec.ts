import type { Request } from 'express';
import { isFromOtherSite } from './cookies.js';

const isForeign = (headers: Record<string, string>): boolean =>
  isFromOtherSite({ headers } as never as Request);

describe('A request of a browser that sends Origin alone', () => {
  it.each([
    ['https://dashboard.example.com', 'dashboard.example.com'],
    ['https://dashboard.example.com', 'Dashboard.example.com:443'],
    ['https://dashboard.example.com', 'dashboard.example.com.'],
    ['http://localhost', 'localhost:80'],
    ['http://localhost:3000', 'localhost:3000'],
    ['http://[::1]:3000', '[0:0:0:0:0:0:0:1]:3000'],
  ])('is from our own page: %s at %s', (origin, host) => expect(isForeign({ origin, host })).toBe(false));

  it.each([
    ['https://evil.example', 'dashboard.example.com'],
    ['https://dashboard.example.com:8443', 'dashboard.example.com'],
    ['https://dashboard.example.com', 'dashboard.example.com:80'],
    ['http://localhost:3000', 'localhost:3001'],
    ['null', 'dashboard.example.com'],
    ['https://dashboard.example.com', ''],
    ['https://dashboard.example.com', 'a b'],
  ])('is from another site: %s at %s', (origin, host) => expect(isForeign({ origin, host })).toBe(true));
});
