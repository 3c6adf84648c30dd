import type { AuditLogEntry } from '../audit-logs/index.js';
import type { AuditStream } from './audit-stream.entity.js';

/** Severities of OpenTelemetry. */
const [INFO, WARN] = [9, 13];

/** Bytes of the entries of a request: proxies of receivers often refuse bodies of more than 1 MB. */
const MAX_BYTES = 512 * 1024;

/** Returns the first entries that fit into a request. A longer entry is sent alone. */
export function thatFit(entries: readonly AuditLogEntry[]): readonly AuditLogEntry[] {
  let bytes = 0;
  const end = entries.findIndex((entry, index) => {
    bytes += Buffer.byteLength(JSON.stringify(shown(entry)));
    return index > 0 && bytes > MAX_BYTES;
  });
  return end < 0 ? entries : entries.slice(0, end);
}

/** Returns the body of the request that sends consecutive entries. */
export function bodyOf(stream: AuditStream, entries: readonly AuditLogEntry[]): Buffer {
  const body = stream.format === 'otlp' ? otlpBody(stream, entries) : jsonBody(stream, entries);
  return Buffer.from(JSON.stringify(body));
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
