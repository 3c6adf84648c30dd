import { Option, type Command } from 'commander';
import type { CreateSessionRequest } from '@merchant-connectivity/sdk';
import { fieldsOf } from '../output.js';
import { action, jsonOption, type Session } from '../program.js';

const TYPES = [
  'card_switcher',
  'transaction_link',
  'link',
  'vault',
] as const satisfies readonly CreateSessionRequest['type'][];

export function addSessions(program: Command): void {
  const sessions = program.command('sessions').description('sessions, in which a user connects accounts');
  sessions
    .command('create')
    .description('create a session')
    .addOption(
      new Option('--type <type>', 'what the user does in the session').choices(TYPES).makeOptionMandatory(),
    )
    .requiredOption('--user <id>', 'your own identifier for the user')
    .option('--card <id>', 'the card to use; card_switcher requires it')
    .option('--email <address>', 'email address of the user')
    .option('--phone <number>', 'phone number of the user, such as +12125550123')
    .option('--metadata <json>', 'your own data, which webhooks of the session contain')
    .action(action(create));
  sessions
    .command('open <id>')
    .description('open a session, as your app does when the user begins')
    .option('--metadata <json>', 'data to add to that of the session')
    .action(action(open));
  sessions.command('extend <id>').description('extend a session that is open').action(action(extend));
}

interface CreateOptions {
  readonly type: CreateSessionRequest['type'];
  readonly user: string;
  readonly card?: string;
  readonly email?: string;
  readonly phone?: string;
  readonly metadata?: string;
}

async function create(session: Session, options: CreateOptions): Promise<void> {
  const { type, user, card, email, phone } = options;
  const created = await session.platform().createSession({
    type,
    external_user_id: user,
    ...(card !== undefined && { card_id: card }),
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone_number: phone }),
    ...metadataOf(options),
  });
  session.output.result(created, created.session);
}

async function open(session: Session, options: { readonly metadata?: string }, id = ''): Promise<void> {
  const opened = await session.platform().openSession({ session_id: id, ...metadataOf(options) });
  session.output.result(opened, ...fieldsOf(opened));
}

async function extend(session: Session, _options: object, id = ''): Promise<void> {
  const extended = await session.platform().extendSession({ session_id: id });
  session.output.result(extended, ...fieldsOf(extended));
}

function metadataOf({ metadata }: { readonly metadata?: string }) {
  const object = jsonOption('--metadata', metadata);
  return object && { metadata: object as NonNullable<CreateSessionRequest['metadata']> };
}
