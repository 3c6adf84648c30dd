import type { Command } from 'commander';
import { action, type Session } from '../program.js';

interface Row {
  readonly profile: string;
  readonly isUsed: boolean;
  readonly base_url: string | undefined;
  readonly client_id: string | undefined;
  readonly environment: string | undefined;
}

export function addProfiles(program: Command): void {
  program.command('profiles').description('list the stored profiles').action(action(list));
}

async function list({ output, settings }: Session): Promise<void> {
  const rows = Object.entries(settings.profiles).map(([profile, { base_url, client_id, environment }]) => ({
    profile,
    isUsed: profile === settings.profileName,
    base_url,
    client_id,
    environment,
  }));
  output.table(rows, {
    profile: ({ profile, isUsed }: Row) => `${profile}${isUsed ? ' *' : ''}`,
    address: ({ base_url: url }: Row) => url,
    client: ({ client_id: id }: Row) => id,
    environment: ({ environment }: Row) => environment,
  });
}
