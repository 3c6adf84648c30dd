export { BASE_STYLES } from './assets.js';
export { dashboardPath, inEachEnvironment } from '../http/index.js';
export { browserOf } from './form-tokens.js';
export { PageEnvironments } from './page-environments.js';
export { usePage } from './page-context.js';
export type { Page, PageResponse } from './page-response.js';
export {
  DashboardAction,
  DashboardExport,
  DashboardFile,
  DashboardPage,
  FormBody,
  PAGE_OPERATION,
  PageEnvironment,
  PageRoute,
} from './page-route.decorator.js';
export { PagesModule } from './pages.module.js';
export * from './parts/index.js';
export { localTimeOf, queryFrom, requestFrom, submitted, timestampFrom } from './submitted.js';
