import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

type Value = string | number | boolean;

/** A span as exported to the collector. */
export interface CollectedSpan {
  readonly name: string;
  /** 2: server, 3: client, 4: producer, 5: consumer (OTLP). */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly attributes: Readonly<Record<string, Value>>;
  readonly isError: boolean;
}

/** A local server that accepts traces (OTLP over HTTP, JSON). */
export interface TraceCollector {
  readonly url: string;
  readonly spans: CollectedSpan[];
  /** The headers of each export. */
  readonly headers: IncomingHttpHeaders[];
  readonly texts: string[];
  readonly serviceNames: Set<Value>;
  close(): Promise<void>;
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number;
    readonly doubleValue?: number;
    readonly boolValue?: boolean;
  };
}

interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly status: { readonly code?: number };
}

interface OtlpExport {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

export async function startTraceCollector(): Promise<TraceCollector> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url !== '/v1/traces' || request.method !== 'POST') return response.writeHead(404).end();
      const text = Buffer.concat(chunks).toString();
      collector.headers.push(request.headers);
      collector.texts.push(text);
      for (const { resource, scopeSpans } of (JSON.parse(text) as OtlpExport).resourceSpans) {
        collector.serviceNames.add(attributesOf(resource.attributes)['service.name'] ?? '');
        collector.spans.push(...scopeSpans.flatMap(({ spans }) => spans.map(toSpan)));
      }
      return response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const collector: TraceCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    headers: [],
    texts: [],
    serviceNames: new Set(),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return collector;
}

function toSpan({ name, kind, traceId, spanId, parentSpanId, attributes, status }: OtlpSpan): CollectedSpan {
  return {
    name,
    kind,
    traceId,
    spanId,
    parentSpanId: parentSpanId || undefined,
    attributes: attributesOf(attributes),
    isError: status.code === 2,
  };
}

function attributesOf(attributes: readonly OtlpAttribute[]): Record<string, Value> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value.stringValue ?? value.intValue ?? value.doubleValue ?? value.boolValue ?? '',
    ]),
  );
}
