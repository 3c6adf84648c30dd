import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const REGISTER = new URL('../support/runner/register-typescript.mjs', import.meta.url).href;
const LOGGER = new URL('../../src/infrastructure/logging/service-logger.ts', import.meta.url).href;

/** Runs a program that logs 1,000 lines and ends as the code says. @returns what it wrote */
async function run(end: string, format = 'json'): Promise<{ stdout: string; stderr: string }> {
  const program = `
    import { ServiceLogger } from ${JSON.stringify(LOGGER)};
    const logger = new ServiceLogger({ format: '${format}', levels: ['log', 'error'] });
    for (let line = 0; line < 1000; line += 1) logger.log('request', { line });
    ${end}`;
  const options = ['--import', REGISTER, '--input-type=module', '--eval', program];
  return promisify(execFile)(process.execPath, options).catch(
    (error: unknown) => error as { stdout: string; stderr: string },
  );
}

describe('ServiceLogger', () => {
  it.each([
    ['ends by itself', ''],
    ['exits', 'process.exit(1)'],
    ['crashes', 'throw new Error("crash")'],
  ])('loses no line when the process %s', async (_, end) => {
    const { stdout } = await run(end);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { line: number }).line)).toEqual([
      ...Array(1_000).keys(),
    ]);
  });

  it('masks secrets in the stack of an error that it writes as text', async () => {
    const { stderr } = await run(
      'logger.error("failed", "Error: postgres://user:hunter2@db/x\\n    at file.js:1:1")',
      'text',
    );
    expect(stderr).toContain('Error: postgres://[REDACTED]@db/x\n    at file.js:1:1');
    expect(stderr).not.toContain('hunter2');
  });
});
