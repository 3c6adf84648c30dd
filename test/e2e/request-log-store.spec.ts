import { RequestLogStore } from '../../src/modules/request-logs/index.js';
import { describeRequestLogStore } from '../conformance/request-log-store.js';
import { whileLogIsLocked } from '../support/locked-log.js';
import { startTestApp } from '../support/test-app.js';

describeRequestLogStore('PostgreSQL', async () => {
  const { app, database, close } = await startTestApp({ REQUEST_LOG_QUERY_TIMEOUT_MS: '300' });
  return {
    store: app.get(RequestLogStore),
    now: new Date(),
    whileSlow: (work) => whileLogIsLocked(database, work),
    close,
  };
});
