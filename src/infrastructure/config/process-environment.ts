import type { Environment } from './environment-variable.js';

/** The one place that touches `process.env`. */
export function processEnvironment(): Environment {
  return process.env;
}
