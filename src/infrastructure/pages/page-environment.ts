import type { Request } from 'express';
import { ENVIRONMENTS, type PlatformEnvironment } from '../config/index.js';

/** Returns the environment in the path of a page of the dashboard, or undefined if it has none. */
export function environmentIn({ path }: Request): PlatformEnvironment | undefined {
  return ENVIRONMENTS.find((each) => `${path}/`.startsWith(`/dashboard/${each}/`));
}
