import { isIPv6 } from 'node:net';
import { Injectable } from '@nestjs/common';
import { RATE_LIMIT_EXCEEDED } from '../../infrastructure/errors/index.js';
import { RateLimitGuard } from '../../infrastructure/rate-limiting/index.js';
import { CareersConfiguration } from './careers.configuration.js';

/** 30 requests an hour and address (contract, "Submit job application"). */
@Injectable()
export class CareersRateLimitGuard extends RateLimitGuard {
  constructor(configuration: CareersConfiguration) {
    super({
      name: 'careers',
      requests: configuration.requestsPerHour,
      seconds: 3600,
      subject: (request) => household(request.ip ?? ''),
      error: RATE_LIMIT_EXCEEDED,
    });
  }
}

/** One subscriber has a whole IPv6 /64 to itself, so its addresses count as one. */
function household(address: string): string {
  if (!isIPv6(address) || /^::ffff:/i.test(address)) return address;
  const [head = '', tail] = canonical(address).split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail ? tail.split(':').length : 0;
  if (tail !== undefined) groups.push(...Array<string>(8 - groups.length - behind).fill('0'));
  return groups.slice(0, 4).join(':');
}

/** One spelling for each address (RFC 5952): the one that a proxy writes need not be it. */
function canonical(address: string): string {
  const [withoutZone] = address.split('%');
  return new URL(`http://[${withoutZone}]`).hostname.slice(1, -1);
}
