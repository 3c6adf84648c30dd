import { auditActions, byUser } from '../../infrastructure/audit-catalog/index.js';
import { ACCOUNT_MENU, menuEntries } from '../../infrastructure/pages/index.js';

const LOGIN_ACTIONS = auditActions({
  'auth.login': byUser('user', 'logged/log in'),
  'auth.logout': byUser('user', 'logged/log out'),
  'auth.two_factor_enable': byUser('user', 'enabled/enable two-factor authentication'),
  'auth.two_factor_disable': byUser('user', 'disabled/disable two-factor authentication (of *)'),
  'auth.recovery_codes_renew': byUser('user', 'replaced/replace the recovery codes'),
  'auth.passkey_add': byUser('passkey', 'added/add a passkey *'),
  'auth.passkey_rename': byUser('passkey', 'renamed/rename a passkey *'),
  'auth.passkey_remove': byUser('passkey', 'removed/remove a passkey *'),
  'auth.session_end': byUser('user', 'ended/end other logins', 'The user ended one or all of them.'),
  'auth.password_reset': byUser('user', 'set/set a password with a link from an email'),
  'auth.password_change': byUser('user', 'changed/change the password'),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof LOGIN_ACTIONS, never> {}
}

menuEntries({
  label: 'Your account',
  icon: 'circle-user',
  path: '/account',
  group: ACCOUNT_MENU,
  place: 410,
  words: 'password passkey two-factor second factor 2fa mfa',
});
