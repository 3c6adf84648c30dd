import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { mcpToken } from '../support/agents/agents.js';
import { fillRequestLog, loggedRequest } from '../support/logs/request-log-entries.js';
import { useTestApp } from '../support/test-app.js';
import { linkTo, visitorWithRole } from '../support/pages/visitor.js';

const PATH = '/dashboard/production/request-logs';

const service = useTestApp();

describe('The page of a request log entry', () => {
  it('shows a tool call of an agent with a curl command that works with the token of the user', async () => {
    const visitor = await visitorWithRole(service, 'member');
    const call = { path: '/mcp', tool: 'get_connection_info', externalUserId: 'user-1' };
    const { clientId } = service.production;
    await fillRequestLog(service, [
      loggedRequest({ clientId, environment: 'production' }, { createdAt: new Date(), ...call }),
    ]);
    const list = await visitor.get(PATH);
    expect(list.text).toContain('>POST /mcp get_connection_info</a>');
    const page = await visitor.get(linkTo('POST /mcp get_connection_info', list.text));
    const text = page.text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&');
    expect(text).toMatch(/<dt>Tool<\/dt>\s*<dd>get_connection_info<\/dd>/);
    expect(text).toContain(
      'Set token to an MCP token of this user. The log does not keep the arguments of tools',
    );
    const [, curl = ''] = /<code>(curl -sSg[^]*?)<\/code>/.exec(text.replaceAll('&#39;', "'")) ?? [];
    const token = await mcpToken(service, 'user-1', { as: service.production });
    const { stdout } = await promisify(execFile)('bash', ['-c', curl], { env: { ...process.env, token } });
    expect(stdout).toContain('"environment":"production"');
  });
});
