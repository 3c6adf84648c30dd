import { createHash } from 'node:crypto';
import { CHAIN_START, nextSequence, hashEntry, type UnhashedEntry } from './audit-chain.js';

const ENTRY: UnhashedEntry = {
  organizationId: '19b11f7c-4c8e-49bf-853e-3cea2462349f',
  sequence: '1',
  id: '5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11',
  datetime: new Date('2026-01-31T08:15:30.123Z'),
  event: { action: 'user.add', outcome: { status: 'success' } },
  actor: { name: 'Ada "the first" Lovelace', email: 'ada@example.com' },
  target: { type: 'user', name: 'zoë@example.com', environment: 'production' },
  context: { ip: '203.0.113.7', user_agent: 'Firefox' },
  changes: null,
};
/** The canonical form, which independent verifiers of a chain hash as well. */
const CANONICAL =
  '[1,"19b11f7c-4c8e-49bf-853e-3cea2462349f","1","5b0c7a52-43c8-4c0e-9a53-0f2d4f0f6a11",' +
  '"2026-01-31T08:15:30.123Z","user.add","success","Ada \\"the first\\" Lovelace","ada@example.com",' +
  '"user","zoë@example.com","production","203.0.113.7","Firefox"]';

const sha256 = (...parts: (string | Buffer)[]): string =>
  createHash('sha256')
    .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
    .digest('hex');

describe('hashEntry', () => {
  it('returns the SHA-256 of the previous hash and the canonical form', () => {
    expect(hashEntry(ENTRY, CHAIN_START).toString('hex')).toBe(sha256(Buffer.alloc(32), CANONICAL));
    const previous = { sequence: '8', hash: Buffer.alloc(32, 7) };
    expect(hashEntry(ENTRY, previous).toString('hex')).toBe(sha256(previous.hash, CANONICAL));
  });

  it('contains the changes in the order field, from, to, whatever order they were stored in', () => {
    const changes = [{ to: 'member', from: 'viewer', field: 'role' }];
    const canonical = `${CANONICAL.replace('[1,', '[2,').slice(0, -1)},[["role","viewer","member"]]]`;
    expect(hashEntry({ ...ENTRY, changes }, CHAIN_START).toString('hex')).toBe(
      sha256(Buffer.alloc(32), canonical),
    );
  });

  it('distinguishes null from an empty name, and the values of adjacent fields', () => {
    const { target } = ENTRY;
    const hashes = [
      { target: { ...target, name: null } },
      { target: { ...target, name: '' } },
      { target: { ...target, name: 'null' } },
      { actor: { name: 'a', email: 'b' } },
      { actor: { name: 'ab', email: '' } },
      { actor: { name: 'a","b', email: '' } },
    ].map((change) => hashEntry({ ...ENTRY, ...change }, CHAIN_START).toString('hex'));
    expect(new Set(hashes).size).toBe(hashes.length);
  });
});

it('nextSequence counts beyond the safe integers of JavaScript', () => {
  expect(nextSequence(CHAIN_START)).toBe('1');
  expect(nextSequence({ ...CHAIN_START, sequence: '9007199254740993' })).toBe('9007199254740994');
});
