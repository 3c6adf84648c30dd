import { CreateKeys1790000000001 } from './1790000000001-create-keys.js';
import { CreateOrganizations1790000000002 } from './1790000000002-create-organizations.js';
import { CreateApiClients1790000000003 } from './1790000000003-create-api-clients.js';
import { CreateDashboardUsers1790000000004 } from './1790000000004-create-dashboard-users.js';
import { CreateMcpTokens1790000000005 } from './1790000000005-create-mcp-tokens.js';
import { CreateMerchants1790000000006 } from './1790000000006-create-merchants.js';
import { CreateDetectedAccounts1790000000007 } from './1790000000007-create-detected-accounts.js';
import { CreateJobApplications1790000000008 } from './1790000000008-create-job-applications.js';
import { CreateRequestLogs1790000000009 } from './1790000000009-create-request-logs.js';
import { CreateAuditLogs1790000000010 } from './1790000000010-create-audit-logs.js';
import { CreateDashboardLogins1790000000011 } from './1790000000011-create-dashboard-logins.js';
import { CreateDeviceAuthorizations1790000000012 } from './1790000000012-create-device-authorizations.js';
import { CreateAllowlistedDomains1790000000014 } from './1790000000014-create-allowlisted-domains.js';
import { CreateSamlConfigurations1790000000015 } from './1790000000015-create-saml-configurations.js';
import { CreateMerchantVisibility1790000000016 } from './1790000000016-create-merchant-visibility.js';
import { AddAccountToOrganizations1790000000017 } from './1790000000017-add-account-to-organizations.js';
import { CreateWebhookEndpoints1790000000018 } from './1790000000018-create-webhook-endpoints.js';
import { CreateSessions1790000000019 } from './1790000000019-create-sessions.js';
import { CreateWebhookDeliveries1790000000020 } from './1790000000020-create-webhook-deliveries.js';
import { AddAttemptsToRequestLogs1790000000021 } from './1790000000021-add-attempts-to-request-logs.js';
import { CreateTaskIds1790000000022 } from './1790000000022-create-task-ids.js';
import { CreateDevicePolls1790000000024 } from './1790000000024-create-device-polls.js';
import { IndexRequestLogFilters1790000000023 } from './1790000000023-index-request-log-filters.js';

/** All migrations, oldest first. Never edit one that has been released. */
export const MIGRATIONS = [
  CreateKeys1790000000001,
  CreateOrganizations1790000000002,
  CreateApiClients1790000000003,
  CreateDashboardUsers1790000000004,
  CreateMcpTokens1790000000005,
  CreateMerchants1790000000006,
  CreateDetectedAccounts1790000000007,
  CreateJobApplications1790000000008,
  CreateRequestLogs1790000000009,
  CreateAuditLogs1790000000010,
  CreateDashboardLogins1790000000011,
  CreateDeviceAuthorizations1790000000012,
  CreateAllowlistedDomains1790000000014,
  CreateSamlConfigurations1790000000015,
  CreateMerchantVisibility1790000000016,
  AddAccountToOrganizations1790000000017,
  CreateWebhookEndpoints1790000000018,
  CreateSessions1790000000019,
  CreateWebhookDeliveries1790000000020,
  AddAttemptsToRequestLogs1790000000021,
  CreateTaskIds1790000000022,
  IndexRequestLogFilters1790000000023,
  CreateDevicePolls1790000000024,
];
