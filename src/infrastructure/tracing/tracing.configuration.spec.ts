import 'reflect-metadata';
import { loadConfiguration } from '../config/index.js';
import { TracingConfiguration } from './tracing.configuration.js';

const load = (environment: Record<string, string>): TracingConfiguration =>
  loadConfiguration(environment).get(TracingConfiguration);

describe('OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  // Compose gives services such names.
  it.each([
    'http://collector:4318',
    'http://otel_collector:4318',
    'https://[::1]:4318',
    'http://127.0.0.1:1',
  ])('can be %s', (endpoint) =>
    expect(load({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }).endpoint).toBe(endpoint),
  );

  it.each(['collector:4318', 'grpc://collector:4317', 'http://', 'http://a b'])('cannot be %s', (endpoint) =>
    expect(() => load({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toThrow('OTEL_EXPORTER_OTLP_ENDPOINT'),
  );
});

describe('OTEL_EXPORTER_OTLP_HEADERS', () => {
  it.each([
    ['x-api-key=a%3Db, x-tenant=7', { 'x-api-key': 'a=b', 'x-tenant': '7' }],
    ['x-api-key=a==,', { 'x-api-key': 'a==' }],
    ['x-api-key = a ,, x-tenant=7 , ', { 'x-api-key': 'a', 'x-tenant': '7' }],
  ])('can be %j', (headers, fields) =>
    expect(load({ OTEL_EXPORTER_OTLP_HEADERS: headers }).headerFields).toEqual(fields),
  );

  it.each(['x-api-key', 'x-api-key: a', '=a', 'a=b,c'])('cannot be %j', (headers) =>
    expect(() => load({ OTEL_EXPORTER_OTLP_HEADERS: headers })).toThrow('must be name=value'),
  );
});
