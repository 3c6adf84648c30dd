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

/** A statement joins the open transaction, unless the name of its file says that it does not. */
export function strayConnections(sources: Sources): string[] {
  const remedy =
    'passes by the open transaction: take Transaction of infrastructure/database. A statement that must run outside ' +
    'of transactions goes into a *.batch.ts that says why.';
  const isAllowed = (path: string): boolean =>
    isIn('database')(path) || path.endsWith('.batch.ts') || OUTSIDE_TRANSACTIONS.includes(path);
  const imported = importsOf(sources)
    .filter(({ from, specifier }) => /^(?:@nestjs\/)?typeorm$/.test(specifier) && !isAllowed(from))
    .flatMap(({ from, values }) =>
      values
        .filter((name) => TYPEORM_CONNECTIONS.has(name))
        .map((name) => `${from} imports ${name}, which ${remedy}`),
    );
  const reached = findings(sources, isAllowed, (node) =>
    ts.isPropertyAccessExpression(node) &&
    /(?:^|\.)manager$/.test(node.expression.getText()) &&
    ['connection', 'dataSource', 'queryRunner', 'transaction'].includes(node.name.text)
      ? `uses manager.${node.name.text}, which ${remedy}`
      : undefined,
  );
  return [...imported, ...reached];
}

const SQL =
  /^\s*(?:SELECT\b|INSERT\s+INTO\b|UPDATE\s+\S+\s+(?:\w+\s+)?SET\b|DELETE\s+FROM\b|WITH\s+(?:RECURSIVE\s+)?\w+\s+AS\b|TRUNCATE\b|LOCK\s+TABLE\b|(?:CREATE|ALTER|DROP)\s+(?:UNIQUE\s+|TEMPORARY\s+)?(?:TABLE|INDEX|SEQUENCE|TYPE|DATABASE|ROLE|SCHEMA|VIEW|FUNCTION)\b)/;

/** SQL where TypeORM may be, and where the embedded server is administered, which has no tables of ours. */
export function straySql(sources: Sources): string[] {
  const isAllowed = (path: string): boolean => isOfDatabase(path) || isIn('embedded-postgres')(path);
  return findings(sources, isAllowed, (node) =>
    (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) && SQL.test(node.text)
      ? "holds SQL: move the statement into the module's *.repository.ts."
      : undefined,
  );
}

export function strayEnvironment(sources: Sources): string[] {
  const remedy =
    'reads process.env: add a field to the configuration class of its concern and inject that class.';
  const imported = importsOf(sources)
    .filter(({ from, specifier, values }) => {
      return !isIn('config')(from) && /^(?:node:)?process$/.test(specifier) && values.includes('env');
    })
    .map(({ from }) => `${from} ${remedy}`);
  const accessed = findings(sources, isIn('config'), (node) =>
    isMember(node, 'process', 'env') || isDestructured(node, 'process', 'env') ? remedy : undefined,
  );
  return [...imported, ...accessed];
}

export function strayClock(sources: Sources): string[] {
  return findings(sources, isIn('time'), (node) => {
    const isNewDate =
      ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length;
    const isDateCall = ts.isCallExpression(node) && node.expression.getText() === 'Date';
    return isNewDate || isDateCall || isMember(node, 'Date', 'now')
      ? 'reads the wall clock: inject Clock of infrastructure/time, which a test can move.'
      : undefined;
  });
}

export function strayUrlChecks(sources: Sources): string[] {
  return findings(sources, isIn('urls'), (node) =>
    isMember(node, 'URL', 'canParse')
      ? 'asks URL.canParse, which Node.js 20 answers wrongly once it is compiled: use parsedUrl of infrastructure/urls.'
      : undefined,
  );
}

const HTTP_CLIENTS =
  /^(?:undici|axios|got|ky|superagent|request|node-fetch|cross-fetch|@nestjs\/axios)(?:\/|$)/;
const NODE_HTTP = /^(?:node:)?(?:http|https|http2)$/;
const OUTGOING = new Set(['request', 'get', 'connect', 'Agent', 'ClientRequest', 'default', '*']);

export function strayHttpClients(sources: Sources): string[] {
  const remedy =
    'calls out over HTTP: let infrastructure/http-client do it, where addresses are checked and time is limited.';
  const imported = importsOf(sources)
    .filter(({ from, specifier, values }) => {
      if (isIn('http-client')(from)) return false;
      return HTTP_CLIENTS.test(specifier)
        ? values.length > 0
        : NODE_HTTP.test(specifier) && values.some((name) => OUTGOING.has(name));
    })
    .map(({ from, specifier }) => `${from} imports ${specifier} and ${remedy}`);
  const called = findings(sources, isIn('http-client'), (node) => {
    const isGlobal = ts.isCallExpression(node) && node.expression.getText() === 'fetch';
    return isGlobal || isMember(node, 'globalThis', 'fetch') ? remedy : undefined;
  });
  return [...imported, ...called];
}

/** `HttpException`, `BadRequestException` and the rest of Nest's family. */
export function strayHttpExceptions(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ from, specifier }) => specifier === '@nestjs/common' && !isInfrastructure(from))
    .flatMap(({ from, values }) =>
      values
        .filter((name) => name.endsWith('Exception'))
        .map(
          (name) =>
            `${from} uses ${name}: throw an ErrorKind of the module's catalogue (KIND.error()), which is documented and has a code.`,
        ),
    );
}

export function strayDrivers(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ from, specifier }) => /^pg(?:-|\/|$)/.test(specifier) && !isInfrastructure(from))
    .map(
      ({ from, specifier }) =>
        `${from} imports ${specifier}: speak to the database through the Transaction of infrastructure/database, in a *.repository.ts.`,
    );
}

/** Whoever waits for Redis by another way than ours may wait for ever. */
export function strayRedisClients(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ from, specifier }) => /^(?:io)?redis(?:\/|$)/.test(specifier) && !isIn('redis')(from))
    .map(
      ({ from, specifier }) =>
        `${from} imports ${specifier}: ask Redis of infrastructure/redis, which answers in time or not at all.`,
    );
}

function findings(
  sources: Sources,
  isAllowed: (path: string) => boolean,
  judge: (node: ts.Node) => string | undefined,
): string[] {
  return treesOf(sources).flatMap(([path, tree]) => {
    const found: string[] = [];
    if (isAllowed(path)) return found;
    everyNode(tree, (node) => {
      const sentence = judge(node);
      if (sentence !== undefined) found.push(`${at(path, tree, node)} ${sentence}`);
    });
    return found;
  });
}

function isMember(node: ts.Node, object: string, member: string): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return node.expression.getText() === object && node.name.text === member;
  }
  return (
    ts.isElementAccessExpression(node) &&
    node.expression.getText() === object &&
    ts.isStringLiteralLike(node.argumentExpression) &&
    node.argumentExpression.text === member
  );
}

function isDestructured(node: ts.Node, object: string, member: string): boolean {
  return (
    ts.isVariableDeclaration(node) &&
    node.initializer?.getText() === object &&
    ts.isObjectBindingPattern(node.name) &&
    node.name.elements.some((element) => (element.propertyName ?? element.name).getText() === member)
  );
}
