import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toVersion30 } from '../../src/infrastructure/openapi/index.js';
import { committed, operationsOf } from '../support/documents/documents.js';
import { toolPath } from '../support/programs/tools.js';

const ROOT = join(import.meta.dirname, '..', '..');
/** Minimum result of `redocly score`, out of 100. It counts the alternatives of `oneOf`: one schema for each event cost 0.4. */
const MIN_SCORE = 93;

/** Runs a command of Redocly. @returns its report */
// oxlint-disable-next-line no-explicit-any
function redocly(...parameters: string[]): any {
  const report = execFileSync(process.execPath, [toolPath('@redocly/cli', 'bin/cli.js'), ...parameters], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return JSON.parse(report);
}

/**
 * Repeats the shared responses in each operation, as viewers do: Redocly counts a shared response only for the first
 * operation that has it.
 */
function withoutSharedResponses(): object {
  const document = JSON.parse(committed('openapi.json'));
  for (const { responses } of operationsOf(document)) {
    for (const [status, { $ref, ...own }] of Object.entries(responses)) {
      if ($ref === undefined) continue;
      responses[status] = { ...document.components.responses[$ref.split('/').at(-1) ?? ''], ...own };
    }
  }
  return document;
}

describe('Generated documents', () => {
  it('openapi.json has a high quality score', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'document-')), 'openapi.json');
    writeFileSync(file, JSON.stringify(withoutSharedResponses()));
    const { agentReadiness, subscores } = redocly('score', file, '--format=json');
    expect(agentReadiness).toBeGreaterThanOrEqual(MIN_SCORE);
    expect(subscores).toMatchObject({ documentationQuality: 1, exampleCoverage: 1, errorClarity: 1 });
  });

  it('openapi.json is valid after its conversion to OpenAPI 3.0', () => {
    const file = join(mkdtempSync(join(tmpdir(), 'document-')), 'openapi-3.0.json');
    writeFileSync(file, JSON.stringify(toVersion30(JSON.parse(committed('openapi.json')))));
    expect(redocly('lint', file, `--config=${join(ROOT, 'redocly.yaml')}`, '--format=json')).toMatchObject({
      totals: { errors: 0, warnings: 0 },
    });
  });
});
