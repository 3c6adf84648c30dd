import { INVALID_FIELD, NO_ACCESS } from '../../infrastructure/errors/index.js';
import {
  withMessages,
  withSharedMessages,
  type OperationDocument,
} from '../../infrastructure/openapi/index.js';
import { MESSAGES } from '../../infrastructure/validation/index.js';
import { DetectAccountsRequest } from '../detected-accounts/index.js';
import { MERCHANT_ACCOUNT_DISCONNECTED, MERCHANT_ACCOUNT_NOT_FOUND } from '../merchant-accounts/index.js';
import { MERCHANT_NOT_FOUND } from '../merchants/index.js';
import { SESSION_NOT_FOUND } from '../sessions/index.js';
import { EVENT_IN_FUTURE } from '../webhooks/index.js';
import {
  DisconnectAccountRequest,
  LinkAccountRequest,
  LinkedAccountResponse,
  PublishedEventResponse,
  TriggeredWebhookResponse,
  TriggerWebhookRequest,
} from './sandbox.dto.js';

export const DEVELOPMENT_ONLY = 'The sandbox requires development credentials.';
const FORBIDDEN = withSharedMessages('DevelopmentOnly', NO_ACCESS, DEVELOPMENT_ONLY);
const IN_FUTURE = withMessages(INVALID_FIELD, EVENT_IN_FUTURE);
const SANDBOX = 'Sandbox: requires development credentials; nothing real is affected.';
const QUEUED = 'The event is queued.';

export const LINK_ACCOUNT: OperationDocument = {
  operationId: 'linkSandboxAccount',
  summary: 'Link an account (sandbox)',
  description:
    'Simulates a user logging in to the merchant: your development endpoints receive `AUTHENTICATED`, and the account ' +
    `is connected. Use it to test your receiver of \`AUTHENTICATED\` without a real merchant. ${SANDBOX}`,
  body: LinkAccountRequest,
  response: LinkedAccountResponse,
  responseDescription: QUEUED,
  errors: [IN_FUTURE, FORBIDDEN, SESSION_NOT_FOUND, MERCHANT_NOT_FOUND],
};

export const DISCONNECT_ACCOUNT: OperationDocument = {
  operationId: 'disconnectSandboxAccount',
  summary: 'Disconnect an account (sandbox)',
  description:
    'Simulates a merchant requiring the user to log in again: your development endpoints receive ' +
    '`ACCOUNT_LOGIN_REQUIRED`, and the account is disconnected. Link it first. Use this operation to test how your ' +
    `program asks such a user to log in again. ${SANDBOX}`,
  body: DisconnectAccountRequest,
  response: PublishedEventResponse,
  responseDescription: QUEUED,
  errors: [
    IN_FUTURE,
    FORBIDDEN,
    SESSION_NOT_FOUND,
    MERCHANT_NOT_FOUND,
    MERCHANT_ACCOUNT_NOT_FOUND,
    MERCHANT_ACCOUNT_DISCONNECTED,
  ],
};

export const DETECT_ACCOUNTS: OperationDocument = {
  operationId: 'detectSandboxAccounts',
  summary: 'Detect accounts (sandbox)',
  description:
    'Records accounts of the user as detected now: "Search detected accounts" finds them, and your development ' +
    'endpoints receive `NEW_DETECTED_ACCOUNTS_AVAILABLE`. Use it to test how your program handles detected accounts. ' +
    SANDBOX,
  body: DetectAccountsRequest,
  response: PublishedEventResponse,
  responseDescription: 'The accounts are recorded and the event is queued.',
  errors: [FORBIDDEN, withMessages(MERCHANT_NOT_FOUND, 'The merchant in merchants[0] does not exist.')],
};

export const TRIGGER_WEBHOOK: OperationDocument = {
  operationId: 'triggerSandboxWebhook',
  summary: 'Trigger a webhook (sandbox)',
  description:
    'Sends the example of an event to your development endpoints, signed and retried like any other event. Use it to ' +
    'test your receiver with any event. Fields that you send replace those of the example; fields that the event does ' +
    `not have are ignored. ${SANDBOX}`,
  body: TriggerWebhookRequest,
  response: TriggeredWebhookResponse,
  responseDescription: QUEUED,
  errors: [
    withMessages(INVALID_FIELD, MESSAGES.string('data.card id'), EVENT_IN_FUTURE),
    FORBIDDEN,
    SESSION_NOT_FOUND,
    MERCHANT_NOT_FOUND,
  ],
};
