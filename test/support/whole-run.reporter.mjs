import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SECRET_SHAPES = [
  /\bmc[sp]_(?:dev|live)_[0-9A-Za-z]{49}/,
  /\b(?:Basic|Bearer)\s+[\w+/.~-]{8,}/i,
  /\beyJ[\w-]+\.eyJ/,
  /postgres(?:ql)?:\/\/[^\s:]+:[^\s@[]+@/,
];

/**
 * What only the whole run can tell: no secret reached a log line, and every documented pair of operation
 * and status was really produced. The latter is judged only when everything ran.
 */
export default class WholeRunReporter {
  constructor(globalConfig) {
    this.globalConfig = globalConfig;
    this.problems = [];
  }

  onRunComplete(_contexts, results) {
    const directory = process.env.TEST_RUN_DIRECTORY;
    if (!directory) return;
    this.problems.push(...leakedSecrets(directory));
    const partial =
      this.globalConfig.testPathPatterns?.patterns?.length > 0 ||
      this.globalConfig.testNamePattern ||
      this.globalConfig.onlyChanged ||
      results.numFailedTests > 0 ||
      results.numRuntimeErrorTestSuites > 0;
    if (!partial) this.problems.push(...missingResponses(directory));
    for (const problem of this.problems) console.error(`● ${problem}`);
  }

  getLastError() {
    return this.problems.length > 0 ? new Error(this.problems.join('\n')) : undefined;
  }
}

function leakedSecrets(directory) {
  const secrets = linesOf(join(directory, 'secrets.txt'));
  const logs = readdirSync(join(directory, 'logs')).flatMap((file) => linesOf(join(directory, 'logs', file)));
  const leaks = logs.filter(
    (line) =>
      SECRET_SHAPES.some((shape) => shape.test(line)) || secrets.some((secret) => line.includes(secret)),
  );
  console.error(`Searched ${logs.length} log lines for ${secrets.length} secrets: ${leaks.length} leaks.`);
  return leaks.map((line) => `A secret reached a log line: ${line.slice(0, 300)}`);
}

function missingResponses(directory) {
  const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
  const produced = new Set(linesOf(join(directory, 'responses.txt')));
  return Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .flatMap((operation) =>
      Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
    )
    .filter((pair) => !produced.has(pair))
    .map((pair) => `The documented response "${pair}" was never produced: test it, or take it out.`);
}

function linesOf(file) {
  return existsSync(file) ? [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))] : [];
}
