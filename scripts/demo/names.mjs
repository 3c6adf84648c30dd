/** The users of the organization: name, role, days since they were added, and what else is particular about them. */
export const USERS = [
  ['Maya Okafor', 'owner', 210, { twoFactor: true }],
  ['Jonas Lindqvist', 'owner', 205, { twoFactor: true }],
  ['Sofia Rossi', 'admin', 180, { twoFactor: true }],
  ['Daniel Cohen', 'admin', 143, {}],
  ['Aiko Tanaka', 'admin', 120, { disabled: true }],
  ['Priya Raghunathan', 'member', 98, {}],
  ['Lucas Moreau', 'member', 77, {}],
  ['Hannah Schmidt', 'member', 61, { twoFactor: true }],
  ['Omar El-Sayed', 'member', 44, {}],
  ['Grace Liu', 'member', 30, {}],
  ['Tomasz Zieliński', 'viewer', 21, {}],
  ['Beatriz Carvalho', 'viewer', 12, {}],
  ['Noah Williams', 'member', 3, { invited: true }],
  ['Ingrid Haugen', 'viewer', 1, { invited: true }],
];

export const DOMAIN = 'northwind-pay.example';

/** The webhook endpoints: environment, URL, description, subscription, and how their receiver behaves. */
export const ENDPOINTS = [
  {
    environment: 'production',
    url: `https://hooks.${DOMAIN}/connectivity`,
    description: 'Main receiver',
    failureRate: 0.01,
    latency: 90,
  },
  {
    environment: 'production',
    url: `https://cards.${DOMAIN}/v2/merchant-events?tenant=eu`,
    description: 'Card team',
    events: ['CARD_UPDATED', 'CARD_FAILED'],
    failureRate: 0.03,
    latency: 210,
  },
  {
    environment: 'production',
    url: `https://legacy.${DOMAIN}/webhooks/inbound`,
    description: 'Old data warehouse',
    failsForHours: 26,
    latency: 640,
  },
  {
    environment: 'development',
    url: `https://staging.${DOMAIN}/connectivity`,
    description: 'Staging',
    failureRate: 0.08,
    latency: 150,
  },
  {
    environment: 'development',
    url: 'https://sofia-dev.tunnel.example/hooks',
    description: 'Laptop of Sofia',
    paused: true,
    latency: 300,
  },
];

export const AGENTS = [
  ['Claude', 'claude.ai'],
  ['ChatGPT', 'chatgpt.com'],
  ['Shopping Helper', 'helper.example.com'],
];

const FIRST = ['anna', 'liam', 'chloe', 'mateo', 'zoe', 'ethan', 'nora', 'leo', 'ruby', 'hugo', 'ivy', 'max'];
const LAST = ['baker', 'silva', 'nguyen', 'fischer', 'dubois', 'kim', 'patel', 'novak', 'berg', 'costa'];

/** Returns an external user ID in one of the shapes that customers use. */
export function externalUserId(random, index) {
  if (index % 3 === 0) return random.uuid();
  if (index % 3 === 1) return `user_${random.hex(8)}`;
  return `${random.of(FIRST)}.${random.of(LAST)}${index}@mail.example`;
}
