import type { AuditLogEntry } from '../audit-logs/index.js';
import type { AuditStream } from './audit-stream.entity.js';

/** Severities of OpenTelemetry. */
const INFO = 9;
const WARN = 13;

/** Bytes of the body of a request: proxies of receivers often refuse more than 1 MB. */
const MAX_BYTES = 512 * 1024;

/** Entries that are sent with one request. */
interface Batch {
  readonly entries: readonly AuditLogEntry[];
  readonly body: Buffer;
}

/** Returns the request that sends the first of consecutive entries, as many as fit. A longer entry is sent alone. */
export function batchOf(stream: AuditStream, entries: readonly AuditLogEntry[]): Batch {
  const content = stream.format === 'otlp' ? otlpBody(stream, entries) : jsonBody(stream, entries);
  const body = Buffer.from(JSON.stringify(content));
  if (body.length <= MAX_BYTES || entries.length <= 1) return { entries, body };
  return batchOf(stream, entries.slice(0, halfOf(entries)));
}

/** Returns how many entries to send if this many are too many. */
export function halfOf(entries: readonly AuditLogEntry[]): number {
  return Math.ceil(entries.length / 2);
}

function jsonBody({ organizationId, positionHash }: AuditStream, entries: readonly AuditLogEntry[]): object {
  return {
    organization_id: organizationId,
    first_sequence: Number(entries[0]?.sequence),
    last_sequence: Number(entries.at(-1)?.sequence),
    previous_hash: positionHash.toString('hex'),
    entries: entries.map(shown),
  };
}

function shown(entry: AuditLogEntry): object {
  const { sequence, hash, id, datetime, event, actor, target, context, changes } = entry;
  const place = { sequence: Number(sequence), hash: hash.toString('hex') };
  return { ...place, id, datetime, event, actor, target, context, changes };
}

/** The request of `POST /v1/logs` (OTLP/HTTP with JSON). */
function otlpBody({ organizationId, positionHash }: AuditStream, entries: readonly AuditLogEntry[]): object {
  const hashes = [positionHash, ...entries.map(({ hash }) => hash)];
  return {
    resourceLogs: [
      {
        resource: {
          attributes: attributes({
            'service.name': 'merchant-connectivity',
            'mcs.organization_id': organizationId,
          }),
        },
        scopeLogs: [
          {
            scope: { name: 'audit_log' },
            logRecords: entries.map((entry, index) => recordOf(entry, hashes[index]?.toString('hex'))),
          },
        ],
      },
    ],
  };
}

function recordOf(entry: AuditLogEntry, previousHash: string | undefined): object {
  const { datetime, event } = entry;
  return {
    timeUnixNano: `${datetime.getTime()}000000`,
    severityNumber: event.outcome.status === 'success' ? INFO : WARN,
    eventName: event.action,
    // The whole entry, from which a receiver can verify the chain.
    body: { stringValue: JSON.stringify(shown(entry)) },
    attributes: attributes({
      'audit.sequence': entry.sequence,
      'audit.hash': entry.hash.toString('hex'),
      'audit.previous_hash': previousHash,
      'user.email': entry.actor.email,
      'client.address': entry.context.ip,
    }),
  };
}

function attributes(values: Readonly<Record<string, string | undefined>>): object[] {
  return Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }));
}
