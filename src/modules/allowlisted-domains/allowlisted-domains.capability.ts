import { auditActions, byService, byUser } from '../../infrastructure/audit-catalog/index.js';
import { dashboardPermissions, RECENT_ADMIN } from '../../infrastructure/auth/index.js';
import { menuEntries } from '../../infrastructure/pages/index.js';

const DOMAIN_ACTIONS = auditActions({
  'domain.add': byUser('domain', 'added/add an allowed domain *'),
  'domain.remove': byUser('domain', 'removed/remove an allowed domain *'),
  'domain.prove': byUser('domain', 'proved/prove a domain *', 'A DNS record shows who owns it.'),
  'domain.lose_proof': byService(
    'domain',
    'lost/lose the proof of a domain (named *)',
    'The DNS record was missing for days.',
  ),
});

declare module '../../infrastructure/audit-catalog/index.js' {
  interface AuditActions extends Record<keyof typeof DOMAIN_ACTIONS, never> {}
}

export const DOMAIN_PERMISSIONS = dashboardPermissions({
  listAllowlistedDomains: { role: 'admin' },
  createAllowlistedDomain: { ...RECENT_ADMIN, action: 'domain.add' },
  deleteAllowlistedDomain: { ...RECENT_ADMIN, action: 'domain.remove' },
});

menuEntries({
  label: 'Allowed domains',
  icon: 'globe',
  path: '/dashboard/allowed-domains',
  permission: DOMAIN_PERMISSIONS.listAllowlistedDomains,
  group: 'Organization',
  place: 320,
  words: 'prove dns txt',
});
