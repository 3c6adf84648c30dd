import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Room for the entries of a whole drill, which are moved there. */
const MEGABYTES = 64;

/**
 * Prepares a database disk that can be filled up: a tablespace on a small tmpfs if this user may mount one. Otherwise,
 * triggers in the database raise the error that PostgreSQL raises on a full disk (53100, disk_full).
 */
export async function openSmallDisk(query, postgresDirectory) {
  const root = mkdtempSync(join(tmpdir(), 'bench-disk-'));
  chmodSync(root, 0o755);
  const mount = join(root, 'disk');
  mkdirSync(mount);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m`, 'tmpfs', mount]);
  return mounted.status === 0
    ? openTablespace(query, { root, mount, postgresDirectory })
    : openStandIn(query, root);
}

async function openTablespace(query, { root, mount, postgresDirectory }) {
  const { uid, gid } = statSync(postgresDirectory);
  const path = join(mount, 'tablespace');
  mkdirSync(path);
  chownSync(path, uid, gid);
  const ballast = join(mount, 'ballast');
  await query(`CREATE TABLESPACE small LOCATION '${path}'`);
  const [{ name }] = (await query('SELECT current_database() AS name')).rows;
  return {
    what: `A tablespace on a tmpfs of ${MEGABYTES} MiB, filled to the last byte`,
    /** Makes new sessions create their tables on this disk. */
    use: () => query(`ALTER DATABASE "${name}" SET default_tablespace = small`),
    async fill() {
      const file = openSync(ballast, 'a');
      try {
        for (const size of [2 ** 20, 4096, 1]) fillUp(file, Buffer.alloc(size));
      } finally {
        closeSync(file);
      }
    },
    async free() {
      rmSync(ballast, { force: true });
    },
    /** Call this after the server has stopped. */
    close() {
      spawnSync('umount', [mount]);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function fillUp(file, piece) {
  try {
    while (writeSync(file, piece) === piece.length);
  } catch (error) {
    if (error.code !== 'ENOSPC') throw error;
  }
}

async function openStandIn(query, root) {
  const refusal = `RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'`;
  return {
    what: 'Without permission to mount a tmpfs: triggers that raise 53100, as PostgreSQL does on a full disk',
    async use() {
      await query(
        `CREATE FUNCTION no_room_for_tables() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN ${refusal}; END $$`,
      );
      await query(
        `CREATE FUNCTION no_room_for_rows() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
           IF EXISTS (SELECT FROM pg_inherits
                       WHERE inhparent = 'request_log'::regclass
                         AND inhrelid = to_regclass('request_log_' || to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD')))
           THEN ${refusal}; END IF;
           RETURN NULL;
         END $$`,
      );
    },
    async fill() {
      await query(
        `CREATE EVENT TRIGGER full_disk ON ddl_command_start WHEN TAG IN ('CREATE TABLE')
         EXECUTE FUNCTION no_room_for_tables()`,
      );
      await query(
        `CREATE TRIGGER full_disk BEFORE INSERT ON request_log EXECUTE FUNCTION no_room_for_rows()`,
      );
    },
    async free() {
      await query('DROP EVENT TRIGGER IF EXISTS full_disk');
      await query('DROP TRIGGER IF EXISTS full_disk ON request_log');
    },
    close() {
      rmSync(root, { recursive: true, force: true });
    },
  };
}
