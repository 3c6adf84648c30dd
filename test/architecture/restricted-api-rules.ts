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
  isIn('database')(path) || /(?:\.(?:entity|repository|batch)|\/sql\/[a-z-]+)\.ts$/.test(path);

const FINDERS = new Set([
  'In',
  'IsNull',
  'LessThan',
  'LessThanOrEqual',
  'MoreThan',
  'MoreThanOrEqual',
  'Not',
  'Or',
]);
const isFinder = ({ from, specifier, values }: Import): boolean =>
  specifier === 'typeorm' &&
  !/\.(?:controller|dto|module|pages)\.tsx?$/.test(from) &&
  values.length > 0 &&
  values.every((name) => FINDERS.has(name));

/**
 * Allows TypeORM in entities, repositories, batches, infrastructure/database and infrastructure/framework-patches, and the conditions of finders where the
 * work of the module is done.
 */
export function findForbiddenTypeOrm(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ specifier }) => /^(?:typeorm|@nestjs\/typeorm)(?:\/|$)/.test(specifier))
    .filter(({ from }) => !isOfDatabase(from) && !isIn('framework-patches')(from))
    .filter((each) => !isFinder(each))
    .map(
      ({ from, specifier }) =>
        `${from} imports ${specifier}: add a named method to the module's *.repository.ts.`,
    );
}

const TYPEORM_CONNECTIONS = new Set([
  'DataSource',
  'EntityManager',
  'QueryRunner',
  'Repository',
  'InjectDataSource',
  'InjectEntityManager',
  'InjectRepository',
]);
/** Counts of attempts must survive a rollback, and rate-limiter-flexible requires a data source. */
const OUTSIDE_TRANSACTIONS = ['src/infrastructure/rate-limiting/attempt-limits.repository.ts'];

/** Requires statements to join the open transaction, unless the name of their file says that they do not. */
export function findForbiddenConnections(sources: Sources): string[] {
  const remedy =
    'bypasses the open transaction: inject Transaction of infrastructure/database. A statement that must run outside of ' +
    'transactions belongs in a *.batch.ts that explains why.';
  const isAllowed = (path: string): boolean =>
    isIn('database')(path) || path.endsWith('.batch.ts') || OUTSIDE_TRANSACTIONS.includes(path);
  const imported = importsOf(sources)
    .filter(({ from, specifier }) => /^(?:@nestjs\/)?typeorm$/.test(specifier) && !isAllowed(from))
    .flatMap(({ from, values }) =>
      values
        .filter((name) => TYPEORM_CONNECTIONS.has(name))
        .map((name) => `${from} imports ${name}, which ${remedy}`),
    );
  const reached = findInTrees(sources, isAllowed, (node) =>
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

/** Allows SQL where TypeORM is allowed, and in the administration of the embedded server. */
export function findForbiddenSql(sources: Sources): string[] {
  const isAllowed = (path: string): boolean => isOfDatabase(path) || isIn('embedded-postgres')(path);
  return findInTrees(sources, isAllowed, (node) =>
    (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) && SQL.test(node.text)
      ? "contains SQL: move the statement to the module's *.repository.ts."
      : undefined,
  );
}

export function findForbiddenEnvironmentAccess(sources: Sources): string[] {
  const remedy =
    'reads process.env: add a field to the configuration class of its concern and inject that class.';
  const imported = importsOf(sources)
    .filter(({ from, specifier, values }) => {
      return !isIn('config')(from) && /^(?:node:)?process$/.test(specifier) && values.includes('env');
    })
    .map(({ from }) => `${from} ${remedy}`);
  const accessed = findInTrees(sources, isIn('config'), (node) =>
    isMember(node, 'process', 'env') || isDestructured(node, 'process', 'env') ? remedy : undefined,
  );
  return [...imported, ...accessed];
}

export function findForbiddenClockAccess(sources: Sources): string[] {
  return findInTrees(sources, isIn('time'), (node) => {
    const isNewDate =
      ts.isNewExpression(node) && node.expression.getText() === 'Date' && !node.arguments?.length;
    const isDateCall = ts.isCallExpression(node) && node.expression.getText() === 'Date';
    return isNewDate || isDateCall || isMember(node, 'Date', 'now')
      ? 'reads the wall clock: inject Clock of infrastructure/time, which tests can set.'
      : undefined;
  });
}

const READS_WALL_CLOCK = /\bclock\.(?:milliseconds|now)\(\)/;

/**
 * A time that a field keeps, or a cache asks for, is compared with the clock later. A wall clock that was set back would make it younger.
 * Times that are stored in the database, or shown, belong into local variables and rows.
 */
export function findAgesByWallClock(sources: Sources): string[] {
  return findInTrees(sources, isIn('time'), (node) => {
    const isField =
      ts.isBinaryExpression(node) &&
      node.operatorToken.kind >= ts.SyntaxKind.FirstAssignment &&
      node.operatorToken.kind <= ts.SyntaxKind.LastAssignment &&
      (ts.isPropertyAccessExpression(node.left) || ts.isIdentifier(node.left));
    const isCacheClock = ts.isPropertyAssignment(node) && node.name.getText() === 'perf';
    const kept = isField ? node.right : isCacheClock ? node.initializer : undefined;
    return kept && READS_WALL_CLOCK.test(kept.getText())
      ? 'keeps a time of the wall clock in memory: use monotonic() of Clock, which is never set.'
      : undefined;
  });
}

export function findForbiddenUrlChecks(sources: Sources): string[] {
  return findInTrees(sources, isIn('urls'), (node) =>
    isMember(node, 'URL', 'canParse')
      ? 'calls URL.canParse, whose result is wrong in Node.js 20 once the function is optimized: use parsedUrl of infrastructure/urls.'
      : undefined,
  );
}

/** A process that could not read a file once, because too many were open, would never load the module. */
export function findForbiddenDynamicImports(sources: Sources): string[] {
  const isElsewhere = (path: string): boolean => !path.startsWith('src/modules/');
  return findInTrees(sources, isElsewhere, (node) =>
    ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
      ? 'calls import(), whose failures Node.js keeps until the process ends: use lazyModule of infrastructure/lazy-values.'
      : undefined,
  );
}

/** `request.ip` is what a proxy wrote: with a port, in brackets, or no address at all. */
export function findForbiddenAddresses(sources: Sources): string[] {
  return findInTrees(
    sources,
    (path) =>
      path === 'src/infrastructure/http/request-origin.ts' ||
      isIn('http-client')(path) ||
      path.endsWith('.pages.tsx'),
    (node) =>
      ['ip', 'ips'].some((name) => isMember(node, 'request', name)) ||
      memberOf(node).endsWith('.remoteAddress')
        ? 'reads the address of a client as a proxy wrote it: use clientAddress() or requestOrigin() of infrastructure/http.'
        : undefined,
  );
}

const memberOf = (node: ts.Node): string => (ts.isPropertyAccessExpression(node) ? node.getText() : '');

const HTTP_CLIENTS =
  /^(?:undici|axios|got|ky|superagent|request|node-fetch|cross-fetch|@nestjs\/axios)(?:\/|$)/;
const NODE_HTTP = /^(?:node:)?(?:http|https|http2)$/;
const OUTGOING = new Set(['request', 'get', 'connect', 'Agent', 'ClientRequest', 'default', '*']);

export function findForbiddenHttpClients(sources: Sources): string[] {
  const remedy =
    'sends HTTP requests: use infrastructure/http-client, which checks addresses and limits the time.';
  const imported = importsOf(sources)
    .filter(({ from, specifier, values }) => {
      if (isIn('http-client')(from)) return false;
      return HTTP_CLIENTS.test(specifier)
        ? values.length > 0
        : NODE_HTTP.test(specifier) && values.some((name) => OUTGOING.has(name));
    })
    .map(({ from, specifier }) => `${from} imports ${specifier} and ${remedy}`);
  const called = findInTrees(sources, isIn('http-client'), (node) => {
    const isGlobal = ts.isCallExpression(node) && node.expression.getText() === 'fetch';
    return isGlobal || isMember(node, 'globalThis', 'fetch') ? remedy : undefined;
  });
  return [...imported, ...called];
}

/**
 * All places that send HTTP requests. Each of them uses a client of infrastructure/http-client, which adds the headers that every
 * request has, or says here where the headers come from. All show their failures.
 */
const SENDERS: ReadonlyMap<string, string> = new Map([
  ['src/modules/webhooks/sender/delivery-sender.ts', 'deliveries, and tests of endpoints'],
  ['src/modules/webhook-endpoints/webhook-endpoints.dto.ts', 'nothing: checks URLs'],
  ['src/modules/agent-authorization/agents/client-documents.ts', 'metadata documents of agents'],
  [
    'src/modules/single-sign-on/openid/openid-provider.ts',
    'discovery, keys, tokens and user info, for openid-client',
  ],
  ['src/modules/api-keys/issuer-keys.ts', 'metadata and keys of the issuers of workloads'],
  ['src/modules/single-sign-on/saml/saml-metadata.ts', 'metadata of SAML providers'],
  ['src/modules/merchant-gateway/gateway-client.ts', 'the merchant gateway'],
  ['src/modules/audit-streams/audit-streams.job.ts', 'entries of the audit log'],
  ['src/modules/audit-streams/audit-streams.service.ts', 'nothing: checks URLs'],
  ['src/infrastructure/messages/text-messages.ts', 'text messages'],
  ['src/infrastructure/messages/messages.module.ts', 'nothing: wires the sender of text messages'],
  ['src/infrastructure/tracing/tracing.ts', 'spans; the exporter sends its headers, and these are set there'],
  ['src/cli/commands/doctor.command.ts', 'nothing: passes a client to the checks of other modules'],
]);
const CLIENTS = new Set(['HttpClient', 'ServiceClient']);
/** Libraries that send HTTP requests by themselves, or with a function that is passed to them. */
const SENDING_LIBRARIES = /^(?:openid-client|@opentelemetry\/exporter-[\w-]+)$/;

export function findUnlistedSenders(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ from, specifier, values }) => {
      const isClient =
        specifier.endsWith('/http-client/index.js') && values.some((name) => CLIENTS.has(name));
      return !SENDERS.has(from) && (isClient || (SENDING_LIBRARIES.test(specifier) && values.length > 0));
    })
    .map(
      ({ from, specifier }) =>
        `${from} imports ${specifier} and may send requests: add it to SENDERS in restricted-api-rules.ts, and test that its failures are visible.`,
    );
}

/** Confines `HttpException` and its subclasses to the infrastructure. */
export function findForbiddenHttpExceptions(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ from, specifier }) => specifier === '@nestjs/common' && !isInfrastructure(from))
    .flatMap(({ from, values }) =>
      values
        .filter((name) => name.endsWith('Exception'))
        .map(
          (name) =>
            `${from} uses ${name}: throw an ErrorKind of the module's catalog (KIND.error()), which is documented and has a code.`,
        ),
    );
}

export function findForbiddenDrivers(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ from, specifier }) => /^pg(?:-|\/|$)/.test(specifier) && !isInfrastructure(from))
    .map(
      ({ from, specifier }) =>
        `${from} imports ${specifier}: use the Transaction of infrastructure/database in a *.repository.ts.`,
    );
}

/** It must see what a pooler does to a plain connection, and limits its time itself. */
const PLAIN_CONNECTIONS = ['src/infrastructure/database/session-pooling.ts'];

/** Other connections would wait forever after the database has fallen silent. */
export function findUnwatchedConnections(sources: Sources): string[] {
  return findInTrees(
    sources,
    (path) => PLAIN_CONNECTIONS.includes(path),
    (node) => {
      if (!ts.isNewExpression(node) || !/^pg\.(?:Client|Pool)$/.test(node.expression.getText()))
        return undefined;
      const isWatched = /\bClient,/.test(node.arguments?.[0]?.getText() ?? '');
      return isWatched
        ? undefined
        : `opens ${node.expression.getText()}: use Client of infrastructure/database, as an option of a pool.`;
    },
  );
}

/** Other clients of Redis could wait forever for a response. */
export function findForbiddenRedisClients(sources: Sources): string[] {
  return importsOf(sources)
    .filter(({ from, specifier }) => /^(?:io)?redis(?:\/|$)/.test(specifier) && !isIn('redis')(from))
    .map(
      ({ from, specifier }) =>
        `${from} imports ${specifier}: use Redis of infrastructure/redis, which limits the time of every command.`,
    );
}

/** Strangers choose many keys, and choose them as long as a request can be. */
export function findUnboundedKeys(sources: Sources): string[] {
  const cached = findInTrees(sources, isIn('caching'), (node) =>
    ts.isNewExpression(node) &&
    node.expression.getText() === 'LRUCache' &&
    node.typeArguments?.[0]?.getText() !== 'number'
      ? 'caches values under texts of any length: use BoundedCache of infrastructure/caching.'
      : undefined,
  );
  const counted = importsOf(sources)
    .filter(({ from, specifier }) => specifier === 'rate-limiter-flexible' && !isIn('rate-limiting')(from))
    .map(
      ({ from, specifier }) =>
        `${from} imports ${specifier}: use RateLimiters or AttemptLimitsRepository of infrastructure/rate-limiting, which shorten what they count.`,
    );
  return [...cached, ...counted];
}

function findInTrees(
  sources: Sources,
  isAllowed: (path: string) => boolean,
  check: (node: ts.Node) => string | undefined,
): string[] {
  return treesOf(sources).flatMap(([path, tree]) => {
    const found: string[] = [];
    if (isAllowed(path)) return found;
    everyNode(tree, (node) => {
      const message = check(node);
      if (message !== undefined) found.push(`${at(path, tree, node)} ${message}`);
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

/**
 * Finds statements that insert or update several rows in no order. Two of them that meet the same rows in different orders wait for
 * each other, until PostgreSQL ends one.
 */
export function findUnorderedUpserts(sources: Sources): string[] {
  return treesOf(sources).flatMap(([path, tree]) => {
    const found: string[] = [];
    everyNode(tree, (node) => {
      if (!ts.isStringLiteralLike(node) && !ts.isTemplateExpression(node)) return;
      for (const [insertion, table] of node
        .getText()
        .matchAll(/INSERT INTO (\w+)(?:(?!INSERT INTO).)*?ON CONFLICT/gs))
        if (
          /unnest\(|\bDISTINCT\b|\bGROUP BY\b/.test(insertion) &&
          !/\bORDER BY\b/.test(insertion.replaceAll(/\([^()]*ORDER BY[^()]*\)/g, ''))
        )
          found.push(
            `${at(path, tree, node)} locks rows of ${table} in no order: add ORDER BY with the key before ON CONFLICT.`,
          );
    });
    return found;
  });
}
