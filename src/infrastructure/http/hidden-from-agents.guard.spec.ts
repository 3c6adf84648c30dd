import 'reflect-metadata';
import type { ExecutionContext } from '@nestjs/common';
import { loadConfiguration, ServiceConfiguration } from '../config/index.js';
import { HiddenFromAgentsGuard } from './hidden-from-agents.guard.js';

const CONNECTOR = { CONNECTOR_URL: 'https://agents.example.com' };
const DASHBOARD = { DASHBOARD_URL: 'https://dashboard.example.com' };

function isHidden(environment: Record<string, string>, host: string): boolean {
  const guard = new HiddenFromAgentsGuard(loadConfiguration(environment).get(ServiceConfiguration));
  const request = { headers: { host }, get: () => undefined };
  const http = { getRequest: () => request, getResponse: () => ({ vary: () => undefined }) };
  try {
    return !guard.canActivate({ switchToHttp: () => http } as unknown as ExecutionContext);
  } catch (error) {
    expect(error).toMatchObject({ status: 404 });
    return true;
  }
}

describe('The metadata of the device flow', () => {
  it.each(['agents.example.com', 'AGENTS.example.com:443', 'agents.example.com.'])(
    'are hidden on the host of the connector: %s',
    (host) => expect(isHidden({ ...CONNECTOR, ...DASHBOARD }, host)).toBe(true),
  );

  it.each<[string, Record<string, string>, string]>([
    ['another host', { ...CONNECTOR, ...DASHBOARD }, 'dashboard.example.com'],
    ['another port', { ...CONNECTOR, ...DASHBOARD }, 'agents.example.com:8443'],
    ['a host that is none', { ...CONNECTOR, ...DASHBOARD }, 'a b'],
    [
      'a host that both share',
      { ...CONNECTOR, DASHBOARD_URL: CONNECTOR.CONNECTOR_URL },
      'agents.example.com',
    ],
    ['a host without a connector', DASHBOARD, 'dashboard.example.com'],
    ['a host without addresses', {}, '127.0.0.1:3000'],
  ])('are served on %s', (_what, environment, host) => expect(isHidden(environment, host)).toBe(false));
});
