import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { distributedStatementProblems } from '../database/distributed-statements.mjs';

const SECRET_PATTERNS = [
  /\bmc(?:[spr]_(?:dev|live)|s_svc)_[0-9A-Za-z]{49}/,
  /\b(?:Basic|Bearer)\s+[\w+/.~-]{8,}/i,
  /\beyJ[\w-]+\.eyJ/,
  /postgres(?:ql)?:\/\/[^\s:]+:[^\s@[]+@/,
];

/**
 * Checks after the whole run that no secret was logged, that the database library was not used in a deprecated way, that statements
 * can run on a distributed database and, if all tests ran and passed, that every documented status of every operation was returned.
 */
export default class WholeRunReporter {
  constructor(globalConfig) {
    this.globalConfig = globalConfig;
    this.problems = [];
  }

  onRunComplete(contexts, results) {
    const failed = results.testResults.flatMap((file) =>
      file.testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => `✗ ${fullName}`),
    );
    if (failed.length > 0) console.error(failed.join('\n'));

    const directory = process.env.TEST_RUN_DIRECTORY;
    if (!directory) return;
    this.problems.push(...leakedSecrets(directory));
    this.problems.push(
      ...linesOf(join(directory, 'deprecations.txt')).map(
        (text) => `${text} NODE_OPTIONS=--trace-deprecation shows the place.`,
      ),
    );
    const { testPathPatterns, testNamePattern, onlyChanged } = this.globalConfig;
    // Tests of programs and browsers add no responses and no statements.
    const isPartial =
      ![...contexts].some(({ config }) => config.displayName?.name === 'e2e') ||
      testPathPatterns?.patterns?.length > 0 ||
      testNamePattern ||
      onlyChanged ||
      failed.length > 0 ||
      results.numRuntimeErrorTestSuites > 0;
    this.problems.push(...distributedStatementProblems(directory, !isPartial));
    if (!isPartial) this.problems.push(...missingResponses(directory));
    for (const problem of this.problems) console.error(`● ${problem}`);
  }

  getLastError() {
    return this.problems.length > 0 ? new Error(this.problems.join('\n')) : undefined;
  }
}

function leakedSecrets(directory) {
  const secrets = linesOf(join(directory, 'secrets.txt'));
  const logs = readdirSync(join(directory, 'logs')).flatMap((file) => linesOf(join(directory, 'logs', file)));
  const hasSecret = searcherOf(secrets);
  const leaks = logs.filter(
    (line) => SECRET_PATTERNS.some((pattern) => pattern.test(line)) || hasSecret(line),
  );
  console.error(`Searched ${logs.length} log lines for ${secrets.length} secrets: ${leaks.length} found.`);
  return leaks.map((line) => `A secret was logged: ${line.slice(0, 300)}`);
}

/** Few positions of a line look like the start of a secret, so this is many times as fast as a search for each of 10,000 secrets. */
function searcherOf(secrets) {
  const length = Math.min(...secrets.map((secret) => secret.length), 16);
  const byStart = new Map();
  for (const secret of secrets) {
    const start = secret.slice(0, length);
    if (!byStart.has(start)) byStart.set(start, []);
    byStart.get(start).push(secret);
  }
  return (line) => {
    for (let position = 0; position <= line.length - length; position += 1) {
      const possible = byStart.get(line.slice(position, position + length));
      if (possible?.some((secret) => line.startsWith(secret, position))) return true;
    }
    return false;
  };
}

function missingResponses(directory) {
  const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8'));
  const returned = new Set(linesOf(join(directory, 'responses.txt')));
  return Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .flatMap((operation) =>
      Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
    )
    .filter((response) => !returned.has(response))
    .map((response) => `No test received the documented response "${response}": test it, or remove it.`);
}

function linesOf(file) {
  return existsSync(file) ? [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))] : [];
}
