import type { SingleRequestLogEntryResponse } from '../../modules/request-logs/index.js';

/** What would break the line, or tell the terminal something: users' ids are what callers sent. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** An entry in a line for people. */
export function requestLogLine(entry: SingleRequestLogEntryResponse): string {
  const { delivery } = entry;
  return [
    entry.datetime.toISOString(),
    entry.type.padEnd('webhook'.length),
    entry.method,
    String(entry.status_code).padStart(3),
    `${String(entry.latency_ms).padStart(5)} ms`,
    entry.path ?? `${entry.event} ${entry.url}`,
    ...(entry.external_user_id === null ? [] : [`user=${entry.external_user_id}`]),
    ...(delivery ? [`attempt=${delivery.attempt}`] : []),
    ...(delivery?.reason ? [`reason=${delivery.reason}`] : []),
  ]
    .join(' ')
    .replace(CONTROL_CHARACTERS, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
