import { ENVIRONMENTS, type PlatformEnvironment } from '../config/index.js';

/** Returns the path of a page of the dashboard that shows one environment. */
export function dashboardPath(environment: PlatformEnvironment, ...segments: readonly string[]): string {
  return ['/dashboard', environment, ...segments.map(encodeURIComponent)].join('/');
}

/** Returns the paths of a page in each environment, for `@Controller()`. A placeholder would also match other pages. */
export function inEachEnvironment(page = ''): string[] {
  return ENVIRONMENTS.map((environment) => ['dashboard', environment, page].filter(Boolean).join('/'));
}

/** Returns the environment that a page of the dashboard shows, or undefined if it shows none. */
export function environmentOf(path: string): PlatformEnvironment | undefined {
  return ENVIRONMENTS.find((each) => `${path}/`.startsWith(`${dashboardPath(each)}/`));
}
