import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/agent-connector.md'), 'utf8');

export interface DocumentedTool {
  readonly name: string;
  /** As the page shows them: those that are optional in brackets. */
  readonly arguments: readonly string[];
  readonly isReadOnly: boolean;
}

/** Returns the tools that docs/agent-connector.md lists, in its order. */
export function documentedTools(): DocumentedTool[] {
  return rowsOf('Tools').map(([name = '', input = '', , changes]) => ({
    name: name.replaceAll('`', ''),
    arguments: input.replaceAll('`', '').split(', ').filter(Boolean),
    isReadOnly: changes === 'no',
  }));
}

/**
 * Returns the responses that docs/agent-connector.md lists: the status and the code of the JSON-RPC error, such as `400 -32600`,
 * or the status alone for a response without an error.
 */
export function documentedResponses(): string[] {
  return rowsOf('Statuses and error codes').map(([status = '', code = '']) =>
    code === '–' ? status : `${status} ${code.replaceAll('`', '')}`,
  );
}

/** Returns the cells of the first table below a heading, without its head. */
function rowsOf(heading: string): string[][] {
  const [, section = ''] = new RegExp(`^#+ ${heading}\\n([^]*?)\\n#`, 'm').exec(PAGE) ?? [];
  const rows = section.split('\n').filter((line) => line.startsWith('|'));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );
}
