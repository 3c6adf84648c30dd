import { TEST_AUTHORITY } from '../../../test/support/webhooks/receiver-certificates.js';
import { loadConfiguration } from '../config/index.js';
import { HttpClientConfiguration } from './http-client.configuration.js';

const load = (environment: Record<string, string>): HttpClientConfiguration =>
  loadConfiguration(environment).get(HttpClientConfiguration);

describe('Configuration of outbound requests', () => {
  it('allows only public addresses by default', () => {
    expect(load({})).toMatchObject({ targets: 'public', allowsAnyTarget: false });
    expect(load({ WEBHOOK_TARGETS: 'any' }).allowsAnyTarget).toBe(true);
  });

  it.each([
    ['WEBHOOK_EGRESS_ADDRESS', '35.232.249.218'],
    ['WEBHOOK_EGRESS_ADDRESS', '2001:db8::1'],
    ['OUTBOUND_PROXY_URL', 'http://proxy:3128'],
    ['WEBHOOK_PROXY_URL', 'http://proxy:3128'],
    ['OUTBOUND_PROXY_URL', 'http://user:password@[::1]:3128/'],
    ['WEBHOOK_DNS_SERVERS', '10.0.0.2, 10.0.0.3:5353,[::1]:53'],
    ['WEBHOOK_EXTRA_CA', TEST_AUTHORITY],
  ])('accepts %s=%s', (name, value) => {
    expect(() => load({ [name]: value })).not.toThrow();
  });

  it('reads the former name of the proxy, but not both names', () => {
    expect(load({ WEBHOOK_PROXY_URL: 'http://proxy:3128' }).proxyUrl).toBe('http://proxy:3128');
    expect(() => load({ WEBHOOK_PROXY_URL: 'http://a:1', OUTBOUND_PROXY_URL_FILE: '/proxy' })).toThrow(
      'OUTBOUND_PROXY_URL and WEBHOOK_PROXY_URL, its former name, are both set; keep OUTBOUND_PROXY_URL.',
    );
  });

  it.each([
    ['WEBHOOK_TARGETS', 'all', 'WEBHOOK_TARGETS must be one of the following values: public, any.'],
    ['WEBHOOK_EGRESS_ADDRESS', 'eth0', 'WEBHOOK_EGRESS_ADDRESS must be an ip address.'],
    ['OUTBOUND_PROXY_URL', 'proxy:3128', 'OUTBOUND_PROXY_URL must be a URL such as'],
    ['OUTBOUND_PROXY_URL', 'socks5://proxy:1080', 'OUTBOUND_PROXY_URL must be a URL such as'],
    ['OUTBOUND_PROXY_URL', 'http://proxy:3128/path', 'OUTBOUND_PROXY_URL must be a URL such as'],
    ['WEBHOOK_DNS_SERVERS', 'dns.example.com', 'WEBHOOK_DNS_SERVERS must be a list of addresses such as'],
    ['WEBHOOK_EXTRA_CA', 'not a certificate', 'WEBHOOK_EXTRA_CA must be a certificate in PEM.'],
  ])('rejects %s=%s', (name, value, sentence) => {
    expect(() => load({ [name]: value })).toThrow(sentence);
  });
});
