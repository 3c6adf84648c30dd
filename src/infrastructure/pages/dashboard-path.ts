import type { PlatformEnvironment } from '../config/index.js';

/** Returns the path of a page of the dashboard that shows one environment. */
export function dashboardPath(environment: PlatformEnvironment, ...segments: readonly string[]): string {
  return ['/dashboard', environment, ...segments.map(encodeURIComponent)].join('/');
}
