import type { RequestLogEntry } from '../storage/request-log-entry.js';
import type {
  LoggedDeliveryResponse,
  RequestLogHistoryEntry,
  RequestLogEntryResponse,
  SingleRequestLogEntryResponse,
} from './request-logs.dto.js';

/** The columns of an exported entry: the fields of the API, as paths. */
export const REQUEST_LOG_COLUMNS = [
  'id',
  'type',
  'datetime',
  'method',
  'path',
  'url',
  'event',
  'status_code',
  'latency_ms',
  'session_id',
  'task_id',
  'external_user_id',
  'delivery.webhook_endpoint_id',
  'delivery.event_id',
  'delivery.attempt',
  'delivery.reason',
  'delivery.dns_ms',
  'delivery.connect_ms',
  'delivery.tls_ms',
  'delivery.first_byte_ms',
  'tool',
  'agent',
  'error_code',
  'error_message',
  'request_id',
];

/** Converts an entry for a list. */
export function toResponse(entry: RequestLogEntry): RequestLogEntryResponse {
  return {
    id: entry.id,
    type: entry.type,
    datetime: entry.createdAt,
    method: entry.method,
    path: entry.path,
    url: entry.url,
    event: entry.event,
    status_code: entry.statusCode,
    latency_ms: entry.latencyMilliseconds,
    session_id: entry.sessionId,
    task_id: entry.taskId,
    external_user_id: entry.externalUserId,
    tool: entry.tool ?? null,
    agent: entry.agent ?? null,
    error_code: entry.errorCode ?? null,
    error_message: entry.errorMessage ?? null,
    request_id: entry.requestId ?? null,
    endpoint_id: entry.attempt?.endpointId ?? null,
    event_id: entry.attempt?.eventId ?? null,
    reason: entry.attempt?.reason ?? null,
  };
}

/** Converts an entry with the details of its delivery attempt, except for the body of the response. */
export function toHistoryEntry(entry: RequestLogEntry): RequestLogHistoryEntry {
  return { ...toResponse(entry), delivery: deliveryOf(entry) };
}

/** Converts an entry with everything that is known about it. */
export function toDetailedResponse(entry: RequestLogEntry): SingleRequestLogEntryResponse {
  return { ...toHistoryEntry(entry), response_body: entry.attempt?.responseBody ?? null };
}

function deliveryOf({ attempt }: RequestLogEntry): LoggedDeliveryResponse | null {
  if (!attempt) return null;
  const { endpointId, eventId, number, reason, phases } = attempt;
  return {
    webhook_endpoint_id: endpointId,
    event_id: eventId,
    attempt: number,
    reason,
    dns_ms: phases.dns,
    connect_ms: phases.connect,
    tls_ms: phases.tls,
    first_byte_ms: phases.firstByte,
  };
}
