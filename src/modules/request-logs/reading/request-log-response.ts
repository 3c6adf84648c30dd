import type { RequestLogEntry } from '../storage/request-log-store.js';
import type {
  LoggedDeliveryResponse,
  RequestLogEntryResponse,
  SingleRequestLogEntryResponse,
} from './request-logs.dto.js';

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
  };
}

/** Converts an entry with the details of its delivery attempt. */
export function toDetailedResponse(entry: RequestLogEntry): SingleRequestLogEntryResponse {
  return { ...toResponse(entry), delivery: deliveryOf(entry) };
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
