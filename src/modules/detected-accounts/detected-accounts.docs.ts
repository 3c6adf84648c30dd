import { NO_ACCESS } from '../../infrastructure/errors/index.js';
import { IDEMPOTENCY_KEY_REUSED } from '../../infrastructure/idempotency/index.js';
import { withMessages, type OperationDocument } from '../../infrastructure/openapi/index.js';
import { API_CLIENT_NOT_FOUND } from '../api-clients/index.js';
import { MERCHANT_NOT_FOUND } from '../merchants/index.js';
import { EVENT_KEY_PARAMETER, EventResponse } from '../webhooks/index.js';
import {
  CreateDetectionRequest,
  DetectedAccountResponse,
  IdentifyDetectedAccountsRequest,
  SearchDetectedAccountsRequest,
} from './detected-accounts.dto.js';

const RESULTS = {
  response: [DetectedAccountResponse],
  responseDescription: 'One result for each name, in the order of the names.',
  responseExample: [
    { name: 'Netflix', detected: true, detected_at: '2026-01-31T08:15:30.123Z' },
    { name: 'door dash', detected: false, detected_at: null },
  ],
} as const;

export const SEARCH_DETECTED_ACCOUNTS: OperationDocument = {
  operationId: 'searchDetectedAccounts',
  summary: 'Search detected accounts',
  description:
    'Returns for each name whether an account of the user was detected at that merchant. Call this operation when you ' +
    'receive the `NEW_DETECTED_ACCOUNTS_AVAILABLE` webhook. Matching ignores case, accents, punctuation and spacing, ' +
    'knows common aliases of merchants, and finds Netflix under "Netflix account", "Netflix, Inc." and ' +
    '"www.netflix.com" too. Results are in the order of `names`, including duplicates. For an unknown ' +
    'user, nothing is detected.',
  body: SearchDetectedAccountsRequest,
  ...RESULTS,
  errors: [],
};

export const IDENTIFY_DETECTED_ACCOUNTS: OperationDocument = {
  operationId: 'identifyDetectedAccounts',
  summary: 'Identify detected accounts (by arrangement)',
  description:
    'Works like "Search detected accounts", with the names in the `name` field. The operation responds with 403 ' +
    '`NO_ACCESS` until access is arranged for your client.',
  body: IdentifyDetectedAccountsRequest,
  ...RESULTS,
  errors: [NO_ACCESS],
};

export const CREATE_DETECTION: OperationDocument = {
  operationId: 'createDetection',
  summary: 'Record detected accounts',
  description:
    'Records that accounts of a user were detected at these merchants now, and publishes ' +
    '`NEW_DETECTED_ACCOUNTS_AVAILABLE`. Use it in the pipeline that detects accounts. To make retries safe, send an ' +
    '`idempotency_key` or the header `Idempotency-Key`.',
  headerParameters: EVENT_KEY_PARAMETER,
  body: CreateDetectionRequest,
  response: EventResponse,
  responseDescription: 'The accounts are recorded and the event is published.',
  errors: [
    API_CLIENT_NOT_FOUND,
    withMessages(MERCHANT_NOT_FOUND, 'The merchant in merchants[0] does not exist.'),
    IDEMPOTENCY_KEY_REUSED,
  ],
};
