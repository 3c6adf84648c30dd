import type { DashboardRole, Scope } from './dashboard-actor.js';

/** What an operation of the dashboard requires, and how it is audited. */
export interface DashboardPermission {
  /**
   * The scope that an access token requires. `any` accepts all access tokens. If absent, the operation is performed on pages
   * only.
   */
  readonly token?: Scope | 'any';
  /** The minimum role. If absent, all roles are allowed. */
  readonly role?: DashboardRole;
  /** Whether the login must be recent: see `RECENT_LOGIN_MAX_AGE`. */
  readonly recentLogin?: boolean;
  /** The audited action, so that denied attempts are recorded too. */
  readonly action?: string;
}

/** Operations that decide who gets access, or show a secret, require an admin who logged in recently. */
const RECENT_ADMIN = { role: 'admin', recentLogin: true } as const;
const READ_ENDPOINTS = { token: 'webhook_endpoints:read' } as const;
const CHANGE_ENDPOINTS = { token: 'webhook_endpoints:write', role: 'member' } as const;

/**
 * Everything that dashboard users can do, by name. Pages, buttons, the navigation, guards and `docs/dashboard-permissions.md` read
 * this table. An action that is not in the catalog of the audit log does not compile (`AuditLog.recordDenial`).
 */
const DASHBOARD_OPERATIONS = {
  getCurrentUser: { token: 'any' },

  listRequestLogs: { token: 'request_logs:read' },
  getRequestLog: { token: 'request_logs:read' },
  exportRequestLogs: { action: 'request_log.export' },

  listWebhookEndpoints: READ_ENDPOINTS,
  getWebhookEndpoint: READ_ENDPOINTS,
  createWebhookEndpoint: { ...CHANGE_ENDPOINTS, action: 'webhook.create' },
  updateWebhookEndpoint: { ...CHANGE_ENDPOINTS, action: 'webhook.update' },
  deleteWebhookEndpoint: { ...CHANGE_ENDPOINTS, action: 'webhook.delete' },
  testWebhookEndpoint: CHANGE_ENDPOINTS,
  redeliverWebhook: { ...CHANGE_ENDPOINTS, action: 'webhook.resend' },
  recoverWebhooks: { ...CHANGE_ENDPOINTS, action: 'webhook.resend' },
  getWebhookRecovery: READ_ENDPOINTS,

  listMerchants: { role: 'member' },
  exportMerchants: { role: 'admin', action: 'merchant.export' },
  hideMerchant: { role: 'admin', action: 'merchant.hide' },
  activateMerchant: { role: 'admin', action: 'merchant.activate' },
  listMerchantAccounts: {},
  eraseExternalUser: { ...RECENT_ADMIN, action: 'external_user.erase' },

  listSignInLinks: {},
  cancelSignInLink: { role: 'member', action: 'sign_in_link.cancel' },

  listAgentConnections: {},
  disconnectAgent: { role: 'member', action: 'agent.disconnect' },
  getAgentSettings: { role: 'member' },
  updateAgentSettings: { ...RECENT_ADMIN, action: 'agent.settings_update' },
  createAgent: { ...RECENT_ADMIN, action: 'agent.register' },
  deleteAgent: { ...RECENT_ADMIN, action: 'agent.remove' },

  listApiClients: { role: 'member' },
  updateApiClient: { role: 'admin', action: 'client.update' },
  viewApiSecret: { ...RECENT_ADMIN, action: 'secret.view' },
  rotateApiSecret: { ...RECENT_ADMIN, action: 'secret.rotate' },
  activateApiSecret: { ...RECENT_ADMIN, action: 'secret.rotate' },

  listUsers: { role: 'admin' },
  createUser: { ...RECENT_ADMIN, action: 'user.add' },
  updateUser: { ...RECENT_ADMIN, action: 'user.update' },
  deleteUser: { ...RECENT_ADMIN, action: 'user.remove' },

  listAccessGrants: { role: 'admin' },
  createAccessGrant: { ...RECENT_ADMIN, action: 'access_grant.create' },
  revokeAccessGrant: { ...RECENT_ADMIN, action: 'access_grant.revoke' },

  listAllowlistedDomains: { role: 'admin' },
  createAllowlistedDomain: { ...RECENT_ADMIN, action: 'domain.add' },
  deleteAllowlistedDomain: { ...RECENT_ADMIN, action: 'domain.remove' },

  listSamlConfigurations: { role: 'admin' },
  getSamlConfiguration: { role: 'admin' },
  createSamlConfiguration: { ...RECENT_ADMIN, action: 'sso.add' },
  updateSamlConfiguration: { ...RECENT_ADMIN, action: 'sso.update' },
  enableSamlConfiguration: { ...RECENT_ADMIN, action: 'sso.enable' },
  disableSamlConfiguration: { ...RECENT_ADMIN, action: 'sso.disable' },

  listAuditEntries: { role: 'admin' },
  exportAuditLog: { role: 'admin', action: 'audit_log.export' },
  getAuditStream: { role: 'admin' },
  updateAuditStream: { role: 'owner', recentLogin: true, action: 'audit_stream.update' },
  deleteAuditStream: { role: 'owner', recentLogin: true, action: 'audit_stream.remove' },

  getOrganization: { role: 'member' },
  updateOrganization: { role: 'owner', recentLogin: true, action: 'account.update' },
  activateOrganization: { role: 'owner', action: 'account.activate' },
  updateOrganizationLogo: { role: 'admin', action: 'account.logo_update' },
  getOrganizationLogo: { role: 'member' },
} as const satisfies Readonly<Record<string, DashboardPermission>>;

export type DashboardOperationName = keyof typeof DASHBOARD_OPERATIONS;

/** An action that the guards and pages of the dashboard record. */
export type AuditedAction = Extract<
  (typeof DASHBOARD_OPERATIONS)[DashboardOperationName],
  { readonly action: string }
>['action'];

export type AuditedPermission = DashboardPermission & { readonly action?: AuditedAction };

/** Returns what an operation of the dashboard API requires, in words. */
export function accessInWords({ token, role }: DashboardPermission): string {
  const roles = role === undefined ? 'any role' : `the role \`${role}\` or a higher one`;
  const scope = token === 'any' ? '' : ` with the scope \`${token}\``;
  return `Requires a user with ${roles}, through an access token${scope} or a login.`;
}

/** Everything that dashboard users can do, with what it requires, for the documentation. */
export function listPermissions(): [DashboardOperationName, AuditedPermission][] {
  return Object.entries(DASHBOARD_OPERATIONS) as [DashboardOperationName, AuditedPermission][];
}

/** Returns what an operation of the dashboard requires. */
export function permissionOf(operation: DashboardOperationName): AuditedPermission {
  return DASHBOARD_OPERATIONS[operation];
}
