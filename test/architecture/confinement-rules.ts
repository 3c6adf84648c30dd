import ts from 'typescript';
import {
  at,
  everyNode,
  importsOf,
  isInfrastructure,
  treesOf,
  type Import,
  type Sources,
} from './source-tree.js';

const isIn = (folder: string) => (path: string) => path.startsWith(`src/infrastructure/${folder}/`);
const isOfDatabase = (path: string): boolean =>
  isIn('database')(path) || /\.(?:entity|repository|batch)\.ts$/.test(path);

/** TypeORM in entities, repositories, batches and infrastructure/database; in modules' wiring only `forFeature`. */
export function strayTypeOrm(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ specifier }) => /^(?:typeorm|@nestjs\/typeorm)(?:\/|$)/.test(specifier))
    .filter(({ from }) => !isOfDatabase(from))
    .filter((each) => !isWiring(each))
    .map(
      ({ from, specifier }) =>
        `${from} imports ${specifier}: give the module's *.repository.ts a method with a name for what is needed.`,
    );
}

const isWiring = ({ from, specifier, values }: Import): boolean =>
  from.endsWith('.module.ts') &&
  specifier === '@nestjs/typeorm' &&
  values.every((name) => name === 'TypeOrmModule');

const TYPEORM_CONNECTIONS = new Set([
  'DataSource',
  'EntityManager',
  'QueryRunner',
  'Repository',
  'InjectDataSource',
  'InjectEntityManager',
  'InjectRepository',
]);
/** The counts of attempts must survive a rollback, and rate-limiter-flexible accepts nothing but a data source. */
const OUTSIDE_TRANSACTIONS = ['src/infrastructure/rate-limiting/attempt-limits.repository.ts'];
