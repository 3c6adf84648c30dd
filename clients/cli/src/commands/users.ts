import type { Command } from 'commander';
import { fieldsOf } from '../output.js';
import { action, type Session } from '../program.js';

export function addUsers(program: Command): void {
  const users = program.command('users').description('your users, as you name them');
  users
    .command('erase <id>')
    .description('erase everything that is stored about a user; this cannot be undone')
    .action(action(erase));
  users.command('erasure <id>').description('show the progress of an erasure').action(action(show));
}

async function erase(session: Session, _options: object, id = ''): Promise<void> {
  const erasure = await session.platform().eraseUser({ external_user_id: id });
  session.output.result(erasure, ...fieldsOf(erasure));
}

async function show(session: Session, _options: object, id = ''): Promise<void> {
  const erasure = await session.platform().findUserErasure({ external_user_id: id });
  session.output.result(erasure, ...fieldsOf(erasure));
}
