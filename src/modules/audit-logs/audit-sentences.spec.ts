import {
  AUDIT_ACTION_NAMES,
  auditAction,
  type AuditAction,
} from '../../infrastructure/audit-catalog/index.js';
// With the actions of all capabilities.
import '../../app.module.js';
import type { AuditLogEntryResponse } from './audit-log-entry.entity.js';
import { AUDIT_OUTCOMES } from './audit-outcome.js';
import { actionInWords, groupOf, meaningOf, predicateOf, subjectOf } from './audit-sentences.js';

const ADA = { name: 'Ada Lovelace', email: 'ada@example.com' };

function entry(
  action: AuditAction,
  change: Partial<AuditLogEntryResponse['target']> & {
    status?: 'failure' | 'denied';
    actor?: typeof ADA;
  } = {},
): AuditLogEntryResponse {
  const { status = 'success', actor = ADA, ...target } = change;
  return {
    id: '',
    datetime: new Date(0),
    event: { action, outcome: { status } },
    actor,
    target: { type: auditAction(action).target.type, name: null, environment: 'production', ...target },
    context: { ip: '', user_agent: '' },
    changes: null,
  };
}

describe('predicateOf', () => {
  it.each([
    [entry('user.add', { name: 'bob@example.com' }), 'added the user bob@example.com'],
    [entry('user.add', { status: 'denied' }), 'was not allowed to add a user'],
    [entry('auth.login', { name: 'ada@example.com' }), 'logged in'],
    [entry('auth.login', { name: 'ada@example.com', status: 'failure' }), 'failed to log in'],
    [entry('auth.two_factor_disable', { name: 'ada@example.com' }), 'disabled two-factor authentication'],
    [
      entry('auth.two_factor_disable', { name: 'bob@example.com' }),
      'disabled two-factor authentication of bob@example.com',
    ],
    [entry('merchant.hide', { name: 'Netflix' }), 'hid the merchant Netflix in production'],
    [
      entry('merchant.export', { environment: 'development' }),
      'exported the list of merchants in development',
    ],
    [entry('secret.view', { name: 'c1' }), 'viewed an API secret of the API client c1 in production'],
    // The environment of a denied attempt may be unknown.
    [
      entry('webhook.delete', { name: 'e1', status: 'denied' }),
      'was not allowed to delete the webhook endpoint e1',
    ],
    [
      entry('access_grant.create', { name: 'bob@example.com' }),
      'created an access grant for bob@example.com',
    ],
  ])('describes an entry (%#)', (found, sentence) => expect(predicateOf(found)).toBe(sentence));

  it('has a sentence for each action and outcome of the catalog', () => {
    for (const action of AUDIT_ACTION_NAMES)
      for (const status of AUDIT_OUTCOMES)
        for (const name of [null, 'a name']) {
          const sentence = predicateOf(entry(action, { name, ...(status === 'success' ? {} : { status }) }));
          expect(sentence).toMatch(/^[a-z]+ [a-zA-Z]/);
          expect(sentence).not.toMatch(/undefined|null|\s{2}|\s$/);
        }
  });
});

it('subjectOf names operators and the service', () => {
  expect(subjectOf(entry('user.add'))).toBe('Ada Lovelace');
  expect(subjectOf(entry('user.add', { actor: { name: 'operator', email: 'operator' } }))).toBe(
    'An operator of the platform',
  );
  expect(subjectOf(entry('user.add', { actor: { name: 'system', email: 'system' } }))).toBe('The service');
});

it('actionInWords gives every action different words', () => {
  const words = AUDIT_ACTION_NAMES.map(actionInWords);
  expect(words).toContain('Add a user');
  expect(words).toContain('Create an API client');
  expect(words.filter((each, index) => words.indexOf(each) !== index)).toEqual([]);
});

it.each([
  ['access_grant.create', 'Access grants'],
  ['key.rotate', 'API keys'],
  ['sso.add', 'Single sign-on'],
] as const)('groupOf names the group of %s', (action, group) => expect(groupOf(action)).toBe(group));

it.each([
  ['auth.passkey_add', 'A user added a passkey.'],
  ['domain.lose_proof', 'The service lost the proof of a domain. The DNS record was missing for days.'],
] as const)('meaningOf says who does %s, and what readers need to know besides', (action, meaning) =>
  expect(meaningOf(action)).toBe(meaning),
);
