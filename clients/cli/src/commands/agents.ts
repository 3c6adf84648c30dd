import type { Command } from 'commander';
import type { AgentConnectionResponse } from '@merchant-connectivity/sdk';
import { fieldsOf, timeOf } from '../output.js';
import { action, countOf, first, withListOptions, type ListOptions, type Session } from '../program.js';

export function addAgents(program: Command): void {
  const agents = program.command('agents').description('agents that your users have connected by logging in');
  const withUser = (command: Command): Command =>
    command
      .requiredOption('--user <id>', 'your own identifier for the user')
      .option('--phone <number>', 'phone number of the user, to which sign-in links are sent');
  withListOptions(agents.command('list'))
    .description('list connected agents, newest first')
    .option('--user <id>', 'only those of this user')
    .action(action(list));
  agents.command('disconnect <id>').description('end the connection of an agent').action(action(disconnect));
  withUser(agents.command('code'))
    .description('create a code with which a user connects an agent')
    .action(action(createCode));
  withUser(agents.command('complete <authorization-id>'))
    .description('say which user has logged in: for an agent, a sign-in link or their own page')
    .action(action(complete));
}

interface UserOptions {
  readonly user: string;
  readonly phone?: string;
}

const userOf = ({ user, phone }: UserOptions) => ({
  external_user_id: user,
  ...(phone !== undefined && { phone_number: phone }),
});

async function list(session: Session, options: ListOptions & { readonly user?: string }): Promise<void> {
  const { user } = options;
  const pages = session
    .platform()
    .listAgentConnections({ ...(user !== undefined && { external_user_id: user }) });
  session.output.table(await first(countOf(options), pages), {
    id: ({ id }: AgentConnectionResponse) => id,
    user: ({ external_user_id: id }: AgentConnectionResponse) => id,
    agent: ({ agent }: AgentConnectionResponse) => agent.name,
    connected: ({ created_at: time }: AgentConnectionResponse) => timeOf(time),
    used: ({ last_used_at: time }: AgentConnectionResponse) => timeOf(time),
  });
}

async function disconnect(session: Session, _options: object, id = ''): Promise<void> {
  const connection = await session.platform().disconnectAgent(id);
  session.output.result(connection, ...fieldsOf(connection));
}

async function createCode(session: Session, options: UserOptions): Promise<void> {
  const created = await session.platform().createConnectionCode(userOf(options));
  session.output.result(created, ...fieldsOf(created));
}

async function complete(session: Session, options: UserOptions, id = ''): Promise<void> {
  const completed = await session.platform().completeAgentAuthorization(id, userOf(options));
  session.output.result(completed, completed.redirect_url);
}
