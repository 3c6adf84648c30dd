import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { findReachedInternals, findUnexplainedPatches } from './framework-rules.js';
import { readSources, readTests, sourcesFrom } from './source-tree.js';

const DECISIONS = readdirSync(join(import.meta.dirname, '../../docs/decisions'));
const sources = readSources();

describe('Only framework-patches reaches into a framework', () => {
  it('is followed by the sources', () => expect(findReachedInternals(sources)).toEqual([]));

  it.each([
    [`import { PATH_METADATA } from '@nestjs/common/constants.js';`, 'imports @nestjs/common/constants.js'],
    [
      `import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';`,
      'imports typeorm/driver',
    ],
    [`import { getMetadataStorage } from 'class-validator';`, 'imports getMetadataStorage'],
    [`Object.setPrototypeOf(request, other);`, 'calls Object.setPrototypeOf'],
    [`NetServer.prototype.close.call(server);`, 'uses NetServer.prototype.close'],
    [`passport._strategy('basic');`, 'uses the private member _strategy'],
    [`server['_handle'];`, 'uses the private member _handle'],
    [`const id = (this as unknown as { processID: number }).processID;`, 'casts this'],
    [`(dataSource.driver as { master?: pg.Pool }).master;`, 'casts dataSource.driver'],
    [`const { parser } = socket as { parser?: Parser };`, 'casts socket'],
    [`const parser = (request.socket as unknown as WithParser).parser;`, 'casts request.socket'],
    [`Reflect.getMetadata('path', handler);`, `reads the metadata 'path'`],
    [`this.reflector.get('swagger/apiUse', handler);`, `reads the metadata 'swagger/apiUse'`],
    [`Object.getOwnPropertySymbols(socket);`, 'calls Object.getOwnPropertySymbols'],
    [`class Own extends IncomingMessage {}`, 'extends IncomingMessage'],
    [`class Own extends PassportStrategy(Basic) { authenticate() {} }`, 'overrides authenticate()'],
  ])('reports %s', (text, message) => {
    expect(findReachedInternals(sourcesFrom({ 'src/infrastructure/http/a.ts': text }))).toEqual([
      expect.stringMatching(
        /use what the framework documents.*add a patch to infrastructure\/framework-patches/,
      ),
    ]);
    expect(findReachedInternals(sourcesFrom({ 'src/infrastructure/http/a.ts': text }))[0]).toContain(message);
    expect(findReachedInternals(sourcesFrom({ 'src/infrastructure/framework-patches/a.ts': text }))).toEqual(
      [],
    );
  });

  it('accepts documented members, data, and members of its own', () => {
    const text = `
      import { Injectable } from '@nestjs/common';
      import { validateSync } from 'class-validator';
      const { code } = error as { code?: string };
      const { path } = request.route as { path?: string };
      const type = Reflect.getMetadata('design:type', target);
      const meta = params['_meta'];
      this._cache = {};`;
    expect(findReachedInternals(sourcesFrom({ 'src/infrastructure/http/a.ts': text }))).toEqual([]);
  });
});

describe('Every patch says for which version it was written, and has a test that shows when it is no longer needed', () => {
  it('is followed by the sources', () => {
    expect(findUnexplainedPatches(sources, readTests(), DECISIONS)).toEqual([]);
  });

  const FOLDER = 'src/infrastructure/framework-patches';
  const HEAD = '/**\n * Written for Nest 12.5.1. Evidence: docs/decisions/0001-a.md.\n */\n';
  const SPEC = `it('is needed as long as Nest does not', () => undefined);`;
  const problems = (patches: Record<string, string>, specs: Record<string, string>): string[] =>
    findUnexplainedPatches(sourcesFrom(patches), sourcesFrom(specs), ['0001-a.md']);

  it('reports violations with a remedy', () => {
    const specs = { [`${FOLDER}/a.spec.ts`]: SPEC };
    expect(problems({ [`${FOLDER}/a.ts`]: HEAD }, specs)).toEqual([]);
    expect(problems({ [`${FOLDER}/a.ts`]: '' }, specs)).toEqual([expect.stringContaining('Written for')]);
    expect(problems({ [`${FOLDER}/a.ts`]: HEAD.replace('0001', '0002') }, specs)).toHaveLength(1);
    expect(problems({ [`${FOLDER}/a.ts`]: HEAD }, {})).toEqual([expect.stringContaining('add a test')]);
    const importing = `${HEAD}import { b } from '../time/index.js';`;
    expect(
      problems({ [`${FOLDER}/a.ts`]: importing, 'src/infrastructure/time/index.ts': '' }, specs),
    ).toEqual([expect.stringContaining('a patch knows the framework only')]);
  });

  it('reports a ninth patch', () => {
    const names = Array.from({ length: 9 }, (_, index) => `${FOLDER}/${index}`);
    const patches = Object.fromEntries(names.map((name) => [`${name}.ts`, HEAD]));
    const specs = Object.fromEntries(names.map((name) => [`${name}.spec.ts`, SPEC]));
    expect(problems(patches, specs)).toEqual(['9 patches, more than 8: remove one.']);
  });
});
