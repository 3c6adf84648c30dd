import { Baseline1790000000001 } from './1790000000001-baseline.js';
import { Identity1790000000003 } from './1790000000003-identity.js';
import { WebhookLanesAndRecoveries1790000000004 } from './1790000000004-webhook-lanes-and-recoveries.js';
import { PartitionFunctions1790000000005 } from './1790000000005-partition-functions.js';
import { WebhookLogIndex1790000000006 } from './1790000000006-webhook-log-index.js';
import { WebhookPause1790000000007 } from './1790000000007-webhook-pause.js';
import { EventApi1790000000008 } from './1790000000008-event-api.js';
import { WebhookConcurrency1790000000010 } from './1790000000010-webhook-concurrency.js';
import { WebhookSubscriptions1790000000011 } from './1790000000011-webhook-subscriptions.js';
import { RequestLogFilterIndexes1790000000012 } from './1790000000012-request-log-filter-indexes.js';
import { WebhookEventClientIndex1790000000013 } from './1790000000013-webhook-event-client-index.js';
import { WebhookStream1790000000014 } from './1790000000014-webhook-stream.js';
import { WebhookStreamIndex1790000000015 } from './1790000000015-webhook-stream-index.js';
import { RequestLogRollups1790000000016 } from './1790000000016-request-log-rollups.js';
import { DashboardSettings1790000000017 } from './1790000000017-dashboard-settings.js';
import { DeviceRedemptionTime1790000000021 } from './1790000000021-device-redemption-time.js';
import { MerchantAccounts1790000000022 } from './1790000000022-merchant-accounts.js';
import { SignInLinks1790000000023 } from './1790000000023-sign-in-links.js';
import { RequestLogTool1790000000024 } from './1790000000024-request-log-tool.js';
import { McpTokenPartitions1790000000025 } from './1790000000025-mcp-token-partitions.js';
import { DistributedPartitions1790000000026 } from './1790000000026-distributed-partitions.js';
import { ColumnarPartitions1790000000027 } from './1790000000027-columnar-partitions.js';
import { SignInLinkTokens1790000000028 } from './1790000000028-sign-in-link-tokens.js';
import { RequestLogFiles1790000000031 } from './1790000000031-request-log-files.js';
import { PlatformAuditChain1790000000032 } from './1790000000032-platform-audit-chain.js';
import { SignInsAtMerchants1790000000033 } from './1790000000033-sign-ins-at-merchants.js';
import { ExpiredSignInLinks1790000000034 } from './1790000000034-expired-sign-in-links.js';
import { MerchantSignOuts1790000000035 } from './1790000000035-merchant-sign-outs.js';
import { UserErasures1790000000036 } from './1790000000036-user-erasures.js';
import { UserDataIndexes1790000000037 } from './1790000000037-user-data-indexes.js';
import { IdempotencyKeys1790000000038 } from './1790000000038-idempotency-keys.js';
import { AgentAuthorization1790000000041 } from './1790000000041-agent-authorization.js';
import { Passkeys1790000000043 } from './1790000000043-passkeys.js';
import { AgentNames1790000000044 } from './1790000000044-agent-names.js';
import { SingleSignOn1790000000045 } from './1790000000045-single-sign-on.js';
import { SamlLogin1790000000046 } from './1790000000046-saml-login.js';
import { SingleSignOnSettings1790000000047 } from './1790000000047-single-sign-on-settings.js';
import { RequestLogErrors1790000000048 } from './1790000000048-request-log-errors.js';
import { AuditChanges1790000000049 } from './1790000000049-audit-changes.js';
import { SavedFilters1790000000050 } from './1790000000050-saved-filters.js';
import { WebhookResends1790000000051 } from './1790000000051-webhook-resends.js';
import { OutgoingEmails1790000000066 } from './1790000000066-outgoing-emails.js';
import { UsualWebhookFailures1790000000070 } from './1790000000070-usual-webhook-failures.js';
import { AgentConnectionEnds1790000000074 } from './1790000000074-agent-connection-ends.js';
import { SubmittedForms1790000000079 } from './1790000000079-submitted-forms.js';
import { ForgottenStatistics1790000000080 } from './1790000000080-forgotten-statistics.js';
import { IdempotentUsers1790000000081 } from './1790000000081-idempotent-users.js';
import { RequestLogInRows1790000000083 } from './1790000000083-request-log-in-rows.js';

/** All migrations, oldest first. Never edit one that has landed, released or not. */
export const MIGRATIONS = [
  // 0.2.0
  Baseline1790000000001,
  // 0.3.0
  Identity1790000000003,
  WebhookLanesAndRecoveries1790000000004,
  PartitionFunctions1790000000005,
  WebhookLogIndex1790000000006,
  WebhookPause1790000000007,
  EventApi1790000000008,
  WebhookConcurrency1790000000010,
  WebhookSubscriptions1790000000011,
  RequestLogFilterIndexes1790000000012,
  WebhookEventClientIndex1790000000013,
  WebhookStream1790000000014,
  WebhookStreamIndex1790000000015,
  RequestLogRollups1790000000016,
  DashboardSettings1790000000017,
  DeviceRedemptionTime1790000000021,
  MerchantAccounts1790000000022,
  SignInLinks1790000000023,
  RequestLogTool1790000000024,
  McpTokenPartitions1790000000025,
  DistributedPartitions1790000000026,
  ColumnarPartitions1790000000027,
  SignInLinkTokens1790000000028,
  RequestLogFiles1790000000031,
  PlatformAuditChain1790000000032,
  SignInsAtMerchants1790000000033,
  ExpiredSignInLinks1790000000034,
  MerchantSignOuts1790000000035,
  UserErasures1790000000036,
  UserDataIndexes1790000000037,
  IdempotencyKeys1790000000038,
  AgentAuthorization1790000000041,
  Passkeys1790000000043,
  AgentNames1790000000044,
  SingleSignOn1790000000045,
  SamlLogin1790000000046,
  SingleSignOnSettings1790000000047,
  RequestLogErrors1790000000048,
  AuditChanges1790000000049,
  SavedFilters1790000000050,
  WebhookResends1790000000051,
  // 0.4.0
  OutgoingEmails1790000000066,
  UsualWebhookFailures1790000000070,
  AgentConnectionEnds1790000000074,
  SubmittedForms1790000000079,
  ForgottenStatistics1790000000080,
  IdempotentUsers1790000000081,
  RequestLogInRows1790000000083,
];
