import { Logger } from '@nestjs/common';
import { loadConfiguration, ServiceConfiguration } from '../../infrastructure/config/index.js';
import { Metrics } from '../../infrastructure/metrics/index.js';
import { Clock } from '../../infrastructure/time/index.js';
import { Tracing } from '../../infrastructure/tracing/index.js';
import { MerchantGatewayConfiguration } from './merchant-gateway.configuration.js';
import { MerchantGatewayService } from './merchant-gateway.service.js';
import type { MerchantSignOutsRepository } from './merchant-sign-outs.repository.js';

const MERCHANT_GATEWAY_SECRET = `whsec_${Buffer.alloc(24, 'k').toString('base64')}`;
const MERCHANT_GATEWAY_URL = 'https://gateway.internal/v1';

const load = (environment: Record<string, string>): MerchantGatewayConfiguration =>
  loadConfiguration(environment).get(MerchantGatewayConfiguration);

describe('Configuration of the merchant gateway', () => {
  it('is complete or absent', () => {
    expect(load({}).address).toBeUndefined();
    expect(load({ MERCHANT_GATEWAY_URL, MERCHANT_GATEWAY_SECRET }).address).toEqual({
      url: MERCHANT_GATEWAY_URL,
      secret: MERCHANT_GATEWAY_SECRET,
    });
    expect(() => load({ MERCHANT_GATEWAY_URL })).toThrow(/requires the other setting of the gateway/);
    expect(() => load({ MERCHANT_GATEWAY_SECRET })).toThrow(/requires the other setting of the gateway/);
  });

  it.each(['whsec_c2hvcnQ=', 'a'.repeat(40), 'whsec_not base64 at all, although it is long enough'])(
    'rejects the secret %s',
    (secret) => {
      expect(() => load({ MERCHANT_GATEWAY_URL, MERCHANT_GATEWAY_SECRET: secret })).toThrow(
        /must be whsec_ followed by at least 24 bytes in base64/,
      );
    },
  );

  it.each([
    ['https://gateway.internal', true],
    ['http://127.0.0.1:4100', true],
    ['http://localhost:4100', true],
    ['http://[::1]:4100', true],
    ['http://[::ffff:127.0.0.1]:4100', true],
    ['http://[::ffff:10.0.0.7]:4100', false],
    ['http://10.0.0.7', false],
    ['http://localhost.example.com', false],
  ])('allows %s in production: %s', (url, isAllowed) => {
    const configuration = load({ MERCHANT_GATEWAY_URL: url, MERCHANT_GATEWAY_SECRET });
    expect(configuration.productionProblems()).toHaveLength(isAllowed ? 0 : 1);
  });
});

describe('The log at the start', () => {
  function warningsWith(environment: Record<string, string>): string[] {
    const warnings: string[] = [];
    const configuration = loadConfiguration(environment);
    const gateway = new MerchantGatewayService(
      configuration.get(MerchantGatewayConfiguration),
      configuration.get(ServiceConfiguration),
      new Metrics(),
      new Tracing(),
      {} as MerchantSignOutsRepository,
      new Clock(),
    );
    const logger = Object.assign(new Logger(), { warn: (text: string) => warnings.push(text) });
    Object.assign(gateway, { logger });
    gateway.onApplicationBootstrap();
    return warnings;
  }

  it('says in production that sign-in is not configured', () => {
    const production = { NODE_ENV: 'production', SURFACES: 'connector' };
    expect(warningsWith(production)).toEqual([
      expect.stringContaining('MERCHANT_GATEWAY_URL is not set: sign-in to merchants is not configured'),
    ]);
    expect(warningsWith({})).toEqual([]);
    expect(warningsWith({ ...production, SURFACES: 'platform' })).toEqual([]);
    expect(warningsWith({ ...production, MERCHANT_GATEWAY_URL, MERCHANT_GATEWAY_SECRET })).toEqual([]);
  });
});
