import { Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
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
      subject: (request) => subscriber(request.ip ?? ''),
      error: RATE_LIMIT_EXCEEDED,
    });
  }
}

/** Bits of an IPv6 address that one subscriber has to itself. */
const IPV6_SUBSCRIBER_PREFIX = 64;

/** Whom an address belongs to, whichever way a proxy spells it: IPv4 addresses count one by one. */
function subscriber(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${IPV6_SUBSCRIBER_PREFIX}`).toString();
}
