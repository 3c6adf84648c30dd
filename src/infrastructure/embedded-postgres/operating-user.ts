import { EmbeddedPostgresError } from './embedded-postgres.error.js';
import { run, type User } from './processes.js';

/** The user that stands in for root, as whom PostgreSQL refuses to run. */
export async function unprivilegedUser(report: (sentence: string) => void): Promise<User> {
  const user =
    (await lookUp('postgres')) ??
    (await lookUp('_postgres')) ?? // macOS
    (await create('postgres', report)) ??
    (await lookUp('nobody'));
  if (!user) {
    throw new EmbeddedPostgresError(
      'PostgreSQL does not run as root, and no other user could be found or created for it.',
      { remedy: 'Start the service as an ordinary user' },
    );
  }
  return user;
}

async function lookUp(name: string): Promise<User | undefined> {
  const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
  return uid.ok && gid.ok ? { uid: Number(uid.output), gid: Number(gid.output) } : undefined;
}

async function create(name: string, report: (sentence: string) => void): Promise<User | undefined> {
  const attempts: [string, string[]][] = [
    ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', name]],
    ['adduser', ['-S', '-D', '-H', '-s', '/sbin/nologin', name]], // BusyBox
  ];
  for (const [program, args] of attempts) {
    if (!(await run(program, args)).ok) continue;
    report(`PostgreSQL does not run as root, so the system user "${name}" was created for it.`);
    return lookUp(name);
  }
  return undefined;
}
