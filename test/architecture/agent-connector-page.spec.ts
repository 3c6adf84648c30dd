import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server';
import { ConnectorRateLimitConfiguration } from '../../src/infrastructure/rate-limiting/index.js';
import type { Tool } from '../../src/modules/agent-connector/tools/tool.js';
import { TOOL_CLASSES } from '../../src/modules/agent-connector/tools/tools.js';
import { documentedResponses, documentedTools } from '../support/connector-page.js';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/agent-connector.md'), 'utf8');

/** The descriptions of tools need none of their services. */
const tools = TOOL_CLASSES.map((Class) => Reflect.construct(Class, []) as Tool);

describe('docs/agent-connector.md', () => {
  it('lists every tool with its arguments, and whether it changes something', () => {
    const existing = tools.map(({ name, input, description }) => ({
      name,
      arguments: Object.entries(input.shape).map(([argument, schema]) =>
        schema.safeParse(undefined).success ? `[${argument}]` : argument,
      ),
      isReadOnly: description.annotations.readOnlyHint,
    }));
    expect(documentedTools()).toEqual(existing);
  });

  it('lists every response once, sorted', () => {
    const responses = documentedResponses();
    expect(responses.length).toBeGreaterThan(20);
    for (const response of responses) expect(response).toMatch(/^[2-5]\d\d(?: -32\d{3})?$/);
    expect(responses).toEqual([...new Set(responses)].toSorted());
  });

  it('names the limit of tool calls and the revisions of the protocol', () => {
    expect(PAGE).toContain(
      `- ${new ConnectorRateLimitConfiguration().toolCallsPerMinute} tool calls per minute`,
    );
    const [, revisions = ''] = /^- The connector serves the revision([^]*?)\.\n/m.exec(PAGE) ?? [];
    expect(revisions.match(/\d{4}-\d\d-\d\d/g)).toEqual(['2026-07-28', ...SUPPORTED_PROTOCOL_VERSIONS]);
  });
});
