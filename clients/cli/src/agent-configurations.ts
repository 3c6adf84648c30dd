/** The name of the connector in the configurations. Agents show it next to the names of the tools. */
const NAME = 'merchant-connectivity';

/** How an agent connects to the connector. */
export interface AgentConfiguration {
  readonly title: string;
  /** The file to write, relative to the folder of the project. */
  readonly file: string;
  readonly content: object;
  /** A command that does the same. */
  readonly command?: string;
}

export const AGENTS = ['claude', 'cursor', 'vscode'] as const;
export type AgentName = (typeof AGENTS)[number];

/** Returns the configurations with the formats that the documentation of each agent describes. */
export function agentConfigurations(
  url: string,
  token: string,
): Readonly<Record<AgentName, AgentConfiguration>> {
  const authorization = `Bearer ${token}`;
  const server = { url, headers: { Authorization: authorization } };
  return {
    claude: {
      title: 'Claude Code',
      file: '.mcp.json',
      content: { mcpServers: { [NAME]: { type: 'http', ...server } } },
      command: `claude mcp add --transport http ${NAME} ${url} --header "Authorization: ${authorization}"`,
    },
    cursor: {
      title: 'Cursor',
      file: '.cursor/mcp.json',
      content: { mcpServers: { [NAME]: server } },
    },
    vscode: {
      title: 'VS Code',
      file: '.vscode/mcp.json',
      content: { servers: { [NAME]: { type: 'http', ...server } } },
    },
  };
}
