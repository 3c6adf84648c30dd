import 'reflect-metadata';
import { loadConfiguration } from '../config/index.js';
// Declares the variables.
import './rate-limit.configuration.js';

describe('Rate limits', () => {
  it.each([
    'MCP_TOOL_CALLS_PER_MINUTE',
    'DASHBOARD_REQUESTS_PER_MINUTE',
    'PLATFORM_REQUESTS_PER_MINUTE',
    'FAILED_CREDENTIALS_PER_MINUTE',
    'FAILED_CREDENTIALS_PER_MINUTE_AND_ADDRESS',
  ])('must allow something: %s', (name) => {
    expect(() => loadConfiguration({ [name]: '0' })).toThrow(`${name} must not be less than 1.`);
    expect(() => loadConfiguration({ [name]: '1' })).not.toThrow();
  });
});
