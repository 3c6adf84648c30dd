import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { migrate } from '../../../src/infrastructure/database/index.js';
import { AuditLog, AuditVerification, type ExportedHead } from '../../../src/modules/audit-logs/index.js';
import { AuditLogRepository } from '../../../src/modules/audit-logs/audit-log.repository.js';
import {
  addOrganization,
  chainOf,
  fillAuditLog,
  insertEntries,
  type AuditRow,
} from '../../support/logs/audit-entries.js';
import { cloneDatabase } from '../../support/database/database.js';
import { useTestApp } from '../../support/test-app.js';

const service = useTestApp();
let organizationId: string;
let entries: AuditRow[];
let kept: ExportedHead;

beforeEach(async () => {
  organizationId = await addOrganization(service.database);
  entries = await fillAuditLog(service.database, organizationId, [{}, {}, {}, {}, {}]);
  kept = await verification().head(organizationId);
});

const verification = (): AuditVerification => service.app.get(AuditVerification);
const idOf = (sequence: number): string => entries[sequence - 1]?.id ?? '';

/** Runs statements as a superuser who has disabled the trigger. */
async function tamper(...statements: string[]): Promise<void> {
  const client = new pg.Client({ connectionString: service.database.url });
  await client.connect();
  try {
    await client.query('BEGIN; SET LOCAL session_replication_role = replica');
    for (const statement of statements) {
      const { rowCount } = await client.query(statement.replaceAll('$organization', `'${organizationId}'`));
      expect(rowCount).toBeGreaterThan(0);
    }
    await client.query('COMMIT');
  } finally {
    await client.end();
  }
}

async function expectFlaw(
  problem: string,
  sequence: number,
  id: string | null,
  head?: ExportedHead,
): Promise<void> {
  const { flaw } = await verification().verify(organizationId, head);
  expect(flaw).toEqual({ problem, sequence, id, explanation: expect.stringMatching(/^[A-Z].*\.$/) });
}

async function expectIntact(count: number, head?: ExportedHead): Promise<void> {
  const report = await verification().verify(organizationId, head);
  expect(report).toEqual({ organizationId, entries: count, flaw: undefined });
}

/** Recomputes the hashes, as a superuser with this program could. */
async function rebuild(change: Partial<AuditRow>): Promise<void> {
  const rebuilt = chainOf(
    organizationId,
    entries.map((entry, index) => ({
      ...entry,
      ...(index === 1 ? change : {}),
    })),
  );
  await tamper('DELETE FROM audit_log WHERE organization_id = $organization');
  await insertEntries(service.database, rebuilt);
  const { sequence, createdAt, hash } = rebuilt.at(-1) as AuditRow;
  await service.database.query(
    'UPDATE audit_chain SET sequence = $2, created_at = $3, hash = $4 WHERE organization_id = $1',
    [organizationId, sequence, createdAt, hash],
  );
}

describe('An unaltered chain', () => {
  it('is valid, also against an exported head', async () => {
    await expectIntact(5);
    await expectIntact(5, kept);
    expect(kept).toEqual({
      organization_id: organizationId,
      sequence: 5,
      hash: entries[4]?.hash.toString('hex'),
      created_at: '2026-01-01T00:00:04.000Z',
    });
  });

  it('is continued by the service', async () => {
    const actor = {
      organizationId,
      name: 'Ada',
      email: 'ada@example.com',
      origin: { ip: '::1', userAgent: '' },
    };
    for (const name of ['=1+1', 'zoë 😀', '"\\\n', null])
      await service.app.get(AuditLog).record({ action: 'domain.add', actor, target: { name } });
    await expectIntact(9, kept);
    expect((await verification().head(organizationId)).sequence).toBe(9);
  });

  it('is valid if it is empty', async () => {
    organizationId = await addOrganization(service.database);
    const head = await verification().head(organizationId);
    expect(head).toEqual({
      organization_id: organizationId,
      sequence: 0,
      hash: '0'.repeat(64),
      created_at: null,
    });
    await expectIntact(0, head);
  });

  it('is read in batches', async () => {
    organizationId = await addOrganization(service.database);
    await fillAuditLog(service.database, organizationId, Array(2_100).fill({}));
    await expectIntact(2_100);
    await tamper(
      `UPDATE audit_log SET actor_name = '' WHERE organization_id = $organization AND sequence = 2000`,
    );
    expect((await verification().verify(organizationId)).flaw).toMatchObject({
      problem: 'altered',
      sequence: 2_000,
    });
  });

  it('is not read any further once the connection of its snapshot is lost', async () => {
    organizationId = await addOrganization(service.database);
    await fillAuditLog(service.database, organizationId, Array(2_100).fill({}));
    const repository = service.app.get(AuditLogRepository, { strict: false });
    const read = repository.inOrderOfChain.bind(repository);
    const interrupted = import.meta.jest
      .spyOn(repository, 'inOrderOfChain')
      .mockImplementation(async function* (...chain) {
        for await (const entry of read(...chain)) {
          if (entry.sequence === '10')
            await service.database.query(
              `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND state = 'idle in transaction'`,
            );
          yield entry;
        }
      });
    const outcome = await Promise.race([
      verification()
        .verify(organizationId)
        .then(
          () => 'verified',
          () => 'failed',
        ),
      pause(20_000, 'is reading', { ref: false }),
    ]);
    interrupted.mockRestore();
    expect(outcome).toBe('failed');
  });

  it('stays valid while it grows', async () => {
    const actor = {
      organizationId,
      name: 'Ada',
      email: 'ada@example.com',
      origin: { ip: '::1', userAgent: '' },
    };
    let growing = true;
    const growth = (async () => {
      while (growing) await service.app.get(AuditLog).record({ action: 'auth.login', actor });
    })();
    try {
      for (let round = 0; round < 30; round += 1)
        expect((await verification().verify(organizationId, kept)).flaw).toBeUndefined();
    } finally {
      growing = false;
      await growth;
    }
  });
});

describe('An altered entry', () => {
  /** A minimal change for each column. */
  const ALTERATIONS: Readonly<Record<string, string>> = {
    organization_id: `'${randomUUID()}'`,
    sequence: 'sequence + 1000',
    id: `(overlay(id::text placing CASE left(id::text, 1) WHEN 'a' THEN 'b' ELSE 'a' END from 1))::uuid`,
    created_at: `created_at + interval '1 millisecond'`,
    action: `overlay(action placing 'x' from 3)`,
    outcome: `overlay(outcome placing 'S' from 1)`,
    actor_name: `overlay(actor_name placing 'a' from 1)`,
    actor_email: `overlay(actor_email placing 'A' from 1)`,
    target_type: `overlay(target_type placing 'U' from 1)`,
    target_name: `overlay(target_name placing 'U' from 1)`,
    target_environment: `overlay(target_environment placing 'P' from 1)`,
    context_ip: `overlay(context_ip placing '1' from 1)`,
    context_user_agent: `context_user_agent || ' '`,
    changes: `'[{"field":"role","from":null,"to":"owner"}]'::jsonb`,
    hash: 'set_byte(hash, 31, get_byte(hash, 31) # 1)',
  };

  it('is tested for every column', async () => {
    const columns = await service.database.query<{ name: string }>(
      `SELECT column_name AS name FROM information_schema.columns WHERE table_name = 'audit_log'`,
    );
    expect(columns.map(({ name }) => name).toSorted()).toEqual(Object.keys(ALTERATIONS).toSorted());
  });

  it.each(Object.entries(ALTERATIONS))('is detected in the column %s', async (column, value) => {
    const isPosition = column === 'organization_id' || column === 'sequence';
    await tamper(
      `UPDATE audit_log SET ${column} = ${value} WHERE organization_id = $organization AND sequence = 3`,
    );
    if (isPosition) await expectFlaw('missing', 3, null);
    else {
      const [row] = await service.database.query<{ id: string }>(
        'SELECT id FROM audit_log WHERE organization_id = $1 AND sequence = 3',
        [organizationId],
      );
      await expectFlaw('altered', 3, row?.id ?? '');
    }
  });

  it('is detected if a name is removed', async () => {
    await tamper(
      `UPDATE audit_log SET target_name = NULL WHERE organization_id = $organization AND sequence = 3`,
    );
    await expectFlaw('altered', 3, idOf(3));
  });

  it('is detected in the first and in the last entry', async () => {
    await tamper(
      `UPDATE audit_log SET context_ip = '::1' WHERE organization_id = $organization AND sequence = 5`,
    );
    await expectFlaw('altered', 5, idOf(5));
    await tamper(
      `UPDATE audit_log SET context_ip = '::1' WHERE organization_id = $organization AND sequence = 1`,
    );
    await expectFlaw('altered', 1, idOf(1));
  });

  it('is detected by the next entry if its hash was recomputed', async () => {
    const [, second] = chainOf(
      organizationId,
      entries.map((entry) => ({ ...entry, actorName: entry.sequence === '2' ? 'Eve' : entry.actorName })),
    );
    await tamper(
      `UPDATE audit_log SET actor_name = 'Eve', hash = '\\x${second?.hash.toString('hex')}'
        WHERE organization_id = $organization AND sequence = 2`,
    );
    await expectFlaw('altered', 3, idOf(3));
  });
});

describe('A removed, added or moved entry', () => {
  const remove = (condition: string): Promise<void> =>
    tamper(`DELETE FROM audit_log WHERE organization_id = $organization AND ${condition}`);
  const moveHead = (sequence: number): Promise<void> =>
    tamper(
      `UPDATE audit_chain SET (sequence, created_at, hash) =
              (SELECT sequence, created_at, hash FROM audit_log
                WHERE organization_id = $organization AND sequence = ${sequence})
        WHERE organization_id = $organization`,
    );

  it('is detected by the gap', async () => {
    await remove('sequence = 3');
    await expectFlaw('missing', 3, null);
    await remove('sequence = 1');
    await expectFlaw('missing', 1, null);
  });

  it('is detected if the gap is closed', async () => {
    await remove('sequence = 3');
    await tamper(
      `UPDATE audit_log SET sequence = sequence - 1 WHERE organization_id = $organization AND sequence = 4`,
      `UPDATE audit_log SET sequence = sequence - 1 WHERE organization_id = $organization AND sequence = 5`,
    );
    await expectFlaw('altered', 3, idOf(4));
  });

  it('is detected if two entries are swapped', async () => {
    await tamper(
      `UPDATE audit_log SET sequence = -2 WHERE organization_id = $organization AND sequence = 2`,
      `UPDATE audit_log SET sequence = 2 WHERE organization_id = $organization AND sequence = 3`,
      `UPDATE audit_log SET sequence = 3 WHERE organization_id = $organization AND sequence = -2`,
    );
    await expectFlaw('altered', 2, idOf(3));
  });

  it('is detected by the head if the last entries are removed', async () => {
    await remove('sequence > 3');
    await expectFlaw('head_mismatch', 4, null);
    await remove('true');
    await expectFlaw('head_mismatch', 1, null);
  });

  it('is detected only by an exported head if the stored head was changed too', async () => {
    await remove('sequence > 3');
    await moveHead(3);
    await expectIntact(3);
    await expectFlaw('head_mismatch', 4, null, kept);
  });

  it('is detected only by an exported head if the whole chain was recomputed', async () => {
    await rebuild({ actorName: 'Eve' });
    await expectIntact(5);
    await expectFlaw('head_mismatch', 5, idOf(5), kept);
  });

  it('is detected after the position of an exported head', async () => {
    const actor = {
      organizationId,
      name: 'Ada',
      email: 'ada@example.com',
      origin: { ip: '::1', userAgent: '' },
    };
    await rebuild({ actorName: 'Eve' });
    await service.app.get(AuditLog).record({ action: 'auth.login', actor });
    await expectIntact(6);
    await expectFlaw('head_mismatch', 5, idOf(5), kept);
  });

  it('is detected if there are entries after the head', async () => {
    await moveHead(3);
    await expectFlaw('head_mismatch', 4, idOf(4));
  });

  it('is detected if there is an entry before the first one', async () => {
    const before = { ...(entries[0] as AuditRow), sequence: '-7', id: randomUUID() };
    await insertEntries(service.database, [before]);
    await expectFlaw('missing', 1, null);
  });

  it.each([
    ['sequence', 'sequence + 1', 6, false],
    ['created_at', `created_at - interval '1 millisecond'`, 5, true],
    ['hash', 'set_byte(hash, 0, get_byte(hash, 0) # 1)', 5, true],
  ])('is detected if the %s of the head was changed', async (column, value, sequence, hasEntry) => {
    await tamper(`UPDATE audit_chain SET ${column} = ${value} WHERE organization_id = $organization`);
    await expectFlaw('head_mismatch', sequence, hasEntry ? idOf(sequence) : null);
  });

  it('is detected if the head was removed', async () => {
    await tamper('DELETE FROM audit_chain WHERE organization_id = $organization');
    await expectFlaw('head_mismatch', 1, idOf(1));
    expect(await verification().organizationIds()).toContain(organizationId);
    await remove('true');
    expect(await verification().organizationIds()).not.toContain(organizationId);
    await expectFlaw('head_mismatch', 1, null, kept);
  });
});

describe('organizationIds', () => {
  it('returns each organization once', async () => {
    const others = await Promise.all([1, 2, 3].map(() => addOrganization(service.database)));
    for (const other of others) await fillAuditLog(service.database, other, [{}, {}, {}]);
    const ids = await verification().organizationIds();
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toEqual(expect.arrayContaining([organizationId, ...others]));
  });
});

describe('The table audit_log', () => {
  const CHANGES = [
    `UPDATE audit_log SET actor_name = 'Eve'`,
    `UPDATE audit_log SET actor_name = 'Eve' WHERE false`,
    'DELETE FROM audit_log WHERE sequence = 1',
    'TRUNCATE audit_log',
    `INSERT INTO audit_log SELECT * FROM audit_log ON CONFLICT (id) DO UPDATE SET actor_name = 'Eve'`,
  ];

  it.each(CHANGES)('rejects statements even of a superuser: %s', async (statement) => {
    await expect(service.database.query(statement)).rejects.toThrow(
      /^The audit log is append-only: (?:UPDATE|DELETE|TRUNCATE) is refused\.$/,
    );
    await expectIntact(5);
  });

  it('denies changes to its owner, even without the trigger', async () => {
    const role = `owner_${randomBytes(6).toString('hex')}`;
    const password = randomBytes(12).toString('hex');
    const database = await cloneDatabase({ empty: true });
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
    await database.query(`ALTER DATABASE ${database.name} OWNER TO ${role}`);
    const url = Object.assign(new URL(database.url), { username: role, password }).href;
    const client = new pg.Client({ connectionString: url });
    try {
      await migrate(url);
      await client.connect();
      await client.query(
        `INSERT INTO audit_log SELECT gen_random_uuid(), 1, gen_random_uuid(), now(), 'a', 'b', 'c', 'd', 'e', 'f',
                'g', 'h', 'i', '\\x00'`,
      );
      await client.query('ALTER TABLE audit_log DISABLE TRIGGER USER');
      for (const statement of [
        `UPDATE audit_log SET actor_name = 'Eve'`,
        'DELETE FROM audit_log',
        'TRUNCATE audit_log',
      ])
        await expect(client.query(statement)).rejects.toThrow('permission denied for table audit_log');
      expect((await client.query('SELECT * FROM audit_log')).rows).toHaveLength(1);
    } finally {
      await client.end();
      await database.query(`REASSIGN OWNED BY ${role} TO CURRENT_USER`);
      await database.query(`DROP OWNED BY ${role}`);
      await database.query(`ALTER DATABASE ${database.name} OWNER TO CURRENT_USER`);
      await database.query(`DROP ROLE ${role}`);
      await database.drop();
    }
  });
});
