import pg from 'pg';
import * as typeorm from 'typeorm';
import { backendOf, connectionOf, entityClasses } from './pg-and-typeorm.js';

describe('connectionOf', () => {
  it('finds the socket of a client', () => {
    expect(connectionOf(new pg.Client()).stream).toHaveProperty('bytesRead', 0);
  });

  it('is needed as long as clients tell nothing about their socket', () => {
    const client = new pg.Client();
    for (const member of ['bytesRead', 'socket', 'stream', 'destroy'])
      expect(client).not.toHaveProperty(member);
  });
});

describe('backendOf', () => {
  it('finds the process ID, which pg knows when it has connected', () => {
    expect(backendOf(new pg.Client())).toBeNull();
  });

  it('is needed as long as pg does not declare the process ID', () => {
    // @ts-expect-error -- `npm run types` fails once @types/pg declares it.
    expect(new pg.Client().processID).toBeNull();
  });
});

describe('entityClasses', () => {
  @typeorm.Entity()
  class Thing {}

  // The service of other test files would look for its table.
  afterAll(() => {
    const { tables } = typeorm.getMetadataArgsStorage();
    tables.splice(
      tables.findIndex(({ target }) => target === Thing),
      1,
    );
  });

  it('contains every class with the decorator', () => expect(entityClasses()).toContain(Thing));

  it('is needed as long as TypeORM exports no other list of entities', () => {
    const names = Object.keys(typeorm).filter((name) => /^get|storage$/i.test(name));
    expect(names.toSorted()).toEqual(['getMetadataArgsStorage']);
  });
});
