import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { AGENT_SCOPES } from '../../src/infrastructure/auth/index.js';
import {
  ConnectorRateLimitConfiguration,
  PlatformRateLimitConfiguration,
} from '../../src/infrastructure/rate-limiting/index.js';
import type { ToolGroup } from '../../src/modules/agent-connector/tools/tool.js';
import { TOOL_CLASSES } from '../../src/modules/agent-connector/tools/tool-registry.js';

const pageAt = (path: string): string => readFileSync(join(import.meta.dirname, '../../docs', path), 'utf8');
const PAGE = pageAt('agent-connector-reference.md');

// The descriptions of tools need none of their services.
const TOOLS = TOOL_CLASSES.flatMap((ToolClass) => (Reflect.construct(ToolClass, []) as ToolGroup).tools);

/** Returns the cells of the first table below a heading, without its head. */
function rowsBelow(heading: string, page = PAGE): string[][] {
  const [, section = ''] = new RegExp(`^#+ ${heading}\\n([^]*?)(?:\\n#|$(?![^]))`, 'm').exec(page) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

describe('docs/agent-connector-reference.md', () => {
  it('lists every tool with its arguments, and whether it changes something', () => {
    const existing = TOOLS.map(({ name, input, annotations }) => [
      name,
      Object.entries(input.shape)
        .map(([argument, schema]) => (schema.safeParse(undefined).success ? `[${argument}]` : argument))
        .join(', '),
      annotations.readOnlyHint ? 'no' : 'yes',
    ]);
    expect(rowsBelow('Tools').map(([name, input, , changes]) => [name, input, changes])).toEqual(existing);
  });

  // test/e2e/agent-connector/agent-connector-fuzz.spec.ts compares them with responses.
  it('lists every response once, sorted', () => {
    const responses = rowsBelow('Statuses and error codes').map(([status, code]) => `${status} ${code}`);
    expect(responses.length).toBeGreaterThan(20);
    expect(responses).toEqual([...new Set(responses)].toSorted(byStatusAndCode));
  });

  it('names the limits and the revisions of the protocol', () => {
    const { toolCallsPerMinute, messagesPerMinute } = new ConnectorRateLimitConfiguration();
    expect(PAGE).toContain(`- ${toolCallsPerMinute} tool calls per minute`);
    expect(PAGE).toContain(`- ${messagesPerMinute} messages of any kind per minute`);
    const { failuresPerAddress } = new PlatformRateLimitConfiguration();
    expect(PAGE).toContain(`- ${failuresPerAddress} requests with wrong credentials per minute`);
    const [, revisions = ''] = /^- The connector serves the revision([^]*?)\.\n/m.exec(PAGE) ?? [];
    expect(revisions.match(/\d{4}-\d\d-\d\d/g)).toEqual(['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS]);
  });
});

describe('docs/agent-login.md', () => {
  it('lists the tools of each scope', () => {
    const rows = rowsBelow('Scopes', pageAt('agent-login.md'));
    const existing = AGENT_SCOPES.map((scope) => [
      scope,
      TOOLS.filter((tool) => tool.scope === scope)
        .map(({ name }) => name)
        .join(', '),
    ]);
    expect(rows.map(([scope, , tools]) => [scope, tools])).toEqual(existing);
  });
});

/** A dash, for no error, comes first. */
function byStatusAndCode(one: string, other: string): number {
  const [first, second] = [one, other].map((response) => response.replace('–', ' '));
  return first! < second! ? -1 : 1;
}
