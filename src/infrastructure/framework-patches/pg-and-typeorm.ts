import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type pg from 'pg';
import { getMetadataArgsStorage } from 'typeorm';

/**
 * Written for pg 8.23.1. Evidence: docs/decisions/0042-silent-connections.md.
 *
 * Returns what pg does not offer: the socket of a client, which shows whether the server sends anything and which can be closed
 * while a statement runs, and an emitter that reports each error of the server as `errorMessage`, for every statement.
 */
export function connectionOf(client: pg.Client): EventEmitter & { readonly stream: Socket } {
  return client.connection as unknown as EventEmitter & { readonly stream: Socket };
}

/**
 * Written for pg 8.23.1. Evidence: docs/decisions/0042-silent-connections.md.
 *
 * Returns the process ID that the server, or a pooler in front of it, gave the connection. `pg_backend_pid()` would need a statement
 * on the silent connection, and would not show that there is a pooler.
 */
export function backendOf(client: pg.Client): number {
  return (client as unknown as { readonly processID: number }).processID;
}

/**
 * Written for TypeORM 1.1.1. Evidence: docs/decisions/0031-frameworks.md.
 *
 * Returns every class with `@Entity()`, so that no module has to list its own. TypeORM and Nest document lists of classes, and patterns of
 * file names, which a bundle does not have.
 */
export function entityClasses(): (() => unknown)[] {
  return getMetadataArgsStorage().tables.map(({ target }) => target as () => unknown);
}
