import type { Tool } from '@modelcontextprotocol/client';
import { Option, type Command } from 'commander';
import {
  agentConfigurations,
  AGENTS,
  type AgentConfiguration,
  type AgentName,
} from '../agent-configurations.js';
import { usage } from '../failures.js';
import type { Output } from '../output.js';
import { printableJson } from '../printable.js';
import { action, jsonOption, type Session } from '../program.js';
import { createToken, type TokenOptions } from './tokens.js';

/** Seconds. The token of a single call is not needed longer. */
const LIFETIME_OF_CALL = 60;

export function addAgent(program: Command): void {
  program
    .command('agent')
    .description('connect an agent to the agent connector (MCP), or call its tools')
    .requiredOption('--user <id>', 'your own identifier for the user')
    .option('--phone <number>', 'phone number of the user, to which sign-in links are sent')
    .option('--expires-in <seconds>', 'lifetime of the token')
    .addOption(
      new Option('--client <name>', 'print only the configuration file of this agent').choices(AGENTS),
    )
    .option('--tools', 'list the tools instead')
    .option('--tool <name>', 'call a tool instead')
    .option('--arguments <json>', 'the arguments of the tool')
    .option('--connector-url <url>', 'address of the agent connector, if it has its own (MCS_CONNECTOR_URL)')
    .action(action(agent));
}

interface AgentOptions extends TokenOptions {
  readonly client?: AgentName;
  readonly tools?: boolean;
  readonly tool?: string;
  readonly arguments?: string;
}

async function agent(session: Session, options: AgentOptions): Promise<void> {
  const { client, tool, tools: isList } = options;
  if ([client, tool, isList].filter((option) => option !== undefined).length > 1)
    throw usage('Give only one of --client, --tools and --tool.');
  const input = jsonOption('--arguments', options.arguments);
  if (input && tool === undefined) throw usage('--arguments requires --tool.');
  const url = `${session.settings.connectorUrl}/mcp`;
  if (tool === undefined && !isList) return configure(session, options, url);
  const { token } = await createToken(session, options, LIFETIME_OF_CALL);
  // Loaded only here: with the MCP SDK, it is larger than the rest of the program.
  const { Connector } = await import('../connector.js');
  const connector = new Connector(url, token);
  if (tool === undefined) return list(session.output, await connector.tools());
  const result = await connector.call(tool, input ?? {});
  session.output.result(result, ...printableJson(result, 2).split('\n'));
}

async function configure(session: Session, options: AgentOptions, url: string): Promise<void> {
  const { output } = session;
  const { client, user } = options;
  const { token, expires_at } = await createToken(session, options);
  const all = agentConfigurations(url, token);
  if (client === undefined) {
    const text = Object.values(all).map(sectionOf).join('\n\n');
    output.result({ url, token, expires_at, clients: all }, ...text.split('\n'));
  } else {
    // The text is the content of the file alone, so that a shell can write it.
    const value = { url, token, expires_at, clients: { [client]: all[client] } };
    output.result(value, ...contentOf(all[client]).split('\n'));
    output.progress(hintOf(all[client]));
  }
  output.progress(
    `The token of ${user} expires at ${expires_at}. Anyone who has it can act for the user: do not commit it.`,
  );
}

const contentOf = ({ content }: AgentConfiguration): string => printableJson(content, 2);

function sectionOf(configuration: AgentConfiguration): string {
  const { title, file, command } = configuration;
  return [
    command === undefined ? `${title}, in ${file}:` : `${title}:\n\n${command}\n\nor in ${file}:`,
    contentOf(configuration),
  ].join('\n\n');
}

function hintOf({ title, file, command }: AgentConfiguration): string {
  return `${title} reads this from ${file}.${command === undefined ? '' : ` Or run: ${command}`}`;
}

function list(output: Output, tools: readonly Tool[]): void {
  output.table(tools, {
    name: ({ name }: Tool) => name,
    arguments: ({ inputSchema: { properties = {}, required = [] } }: Tool) =>
      Object.keys(properties).map((name) => (required.includes(name) ? name : `[${name}]`)),
    title: ({ title }: Tool) => title,
  });
}
