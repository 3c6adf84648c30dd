import fc from 'fast-check';
import { maskedUrl } from './url-masking.js';

describe('maskedUrl', () => {
  it.each([
    ['https://example.com/hooks/orders?shop=7&lang=en', 'https://example.com/hooks/orders?shop=7&lang=en'],
    ['https://example.com/hooks?token=abc&shop=7', 'https://example.com/hooks?token=***&shop=7'],
    ['https://example.com/?API_KEY=a&Signature=b&a=', 'https://example.com/?API_KEY=***&Signature=***&a='],
    ['https://user:pass@example.com/a#fragment', 'https://***@example.com/a'],
    ['https://example.com/T0AB12CD3/xKj38dJf02kDls93kdL2', 'https://example.com/T0AB12CD3/***'],
    ['https://example.com/?x=eyJhbGciOiJI.eyJzdWIiOiIx.sig', 'https://example.com/?x=***'],
    ['https://example.com/?%74oken=abc', 'https://example.com/?%74oken=***'],
    ['https://example.com/?q=%zz', 'https://example.com/?q=%zz'],
    ['https://example.com/hook', 'https://example.com/hook'],
    ['https://example.com/hook?', 'https://example.com/hook?'],
    ['https://example.com/?team=7&page=', 'https://example.com/?team=7&page='],
    ['https://example.com/?token=x&team=7', 'https://example.com/?token=***&team=7'],
    ['https://example.com/?api_key=abc', 'https://example.com/?api_key=***'],
    ['https://example.com/?X-Amz-Signature=ab%3D&a=b', 'https://example.com/?X-Amz-Signature=***&a=b'],
    ['https://example.com/?%74oken=x', 'https://example.com/?%74oken=***'],
    ['https://example.com/?secret=a=b', 'https://example.com/?secret=***'],
    ['https://example.com/?secret=', 'https://example.com/?secret='],
    ['https://example.com/?id=4fJq0vN8sYw2Lb7RtXk1', 'https://example.com/?id=***'],
    ['https://example.com/?4fJq0vN8sYw2Lb7RtXk1', 'https://example.com/?***'],
    ['https://example.com/?%zz=1&pin=1234', 'https://example.com/?%zz=1&pin=***'],
    ['https://example.com/?spinner=1', 'https://example.com/?spinner=1'],
    ['https://example.com/?a=1?token=x', 'https://example.com/?a=1?token=x'],
    ...[
      'xKqzJfhWpRtYvBnMsLdC',
      'qzxvkjhwprtyvbnmsldc',
      'QZXVKJHWPRTYVBNM',
      '0f1e2d3c4b5a6978',
      '0F1E2D3C4B5A6978',
      'kQz-XvkJhwp_RtYvbnMsLdcG',
      'ada@example.com',
      'ada%40example.com',
      'ada.lovelace%2Bhooks@mail.example.co.uk',
      '+12125550123',
      '%2B442071838750',
      '212-555-0123',
      '(212)%20555-0123',
      '12125550123',
    ].map((secret) => [`https://example.com/hooks/${secret}/in`, 'https://example.com/hooks/***/in']),
    ...[
      'ada@example.com',
      '+12125550123',
      '+44%2020%207183%208750',
      '%2B12125550123',
      'xKqzJfhWpRtYvBnMsLdC',
    ].map((value) => [`https://example.com/?of=${value}&a=1`, 'https://example.com/?of=***&a=1']),
    ...[
      'merchant-connectivity-service',
      'order-status-changed-notifications-v2',
      'InternationalizationSettings',
      'webhook_endpoint_deliveries_2026',
      'transaction.notifications.production',
      'characteristically',
      'payment-confirmation-2026-11-22',
      'users/4711/subscriptions',
      '@merchant-connectivity',
      'orders/1769847330',
    ].map((words) => [`https://example.com/${words}?lang=en`, `https://example.com/${words}?lang=en`]),
    ['nonsense', 'nonsense'],
    ['', ''],
  ])('%s', (url, masked) => {
    expect(maskedUrl(url)).toBe(masked);
  });

  it('never throws and is idempotent', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.webUrl({ withFragments: true, withQueryParameters: true }),
        ),
        (url) => {
          const masked = maskedUrl(url);
          expect(maskedUrl(masked)).toBe(masked);
        },
      ),
    );
  });

  it('masks secrets at any position', () => {
    const secret = fc.stringMatching(/^[a-f0-9]{38}a1$|^mcs_live_[A-Za-z0-9]{49}$|^[A-Za-z0-9]{22}a1$/);
    const position = fc.constantFrom<(secret: string) => string>(
      (value) => `https://example.com/${value}/hook`,
      (value) => `https://example.com/hook?a=1&x=${value}`,
      (value) => `https://example.com/hook?${value}`,
      (value) => `https://example.com/hook?${value}=1`,
      (value) => `https://a:${value}@example.com/hook`,
      (value) => `https://${value}@example.com/hook`,
      (value) => `https://example.com/hook#${value}`,
      (value) =>
        `https://example.com/hook?state=${encodeURIComponent(`a ${value}`).replaceAll('%20', '%2B')}`,
    );
    fc.assert(
      fc.property(secret, position, (value, put) => {
        expect(maskedUrl(put(value))).not.toContain(value);
      }),
    );
  });
});
