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

describe('The resource of traces', () => {
  const version = expect.any(String) as string;
  const name = 'merchant-connectivity-service';

  it.each([
    [{}, { 'service.name': name, 'service.version': version }],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=production, k8s.pod.name=api%2D1' },
      {
        'service.name': name,
        'service.version': version,
        'deployment.environment.name': 'production',
        'k8s.pod.name': 'api-1',
      },
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'app.kubernetes.io/name=api' },
      { 'service.name': name, 'service.version': version, 'app.kubernetes.io/name': 'api' },
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'service.name=shop,service.version=7' },
      { 'service.name': 'shop', 'service.version': '7' },
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'service.name=shop', OTEL_SERVICE_NAME: 'trial' },
      { 'service.name': 'trial', 'service.version': version },
    ],
  ])('is, with %j, %j', (environment, resource) => expect(load(environment).resource).toEqual(resource));

  it('has attributes with names and values only', () =>
    expect(() => load({ OTEL_RESOURCE_ATTRIBUTES: 'production' })).toThrow(
      'OTEL_RESOURCE_ATTRIBUTES must be name=value',
    ));
});
