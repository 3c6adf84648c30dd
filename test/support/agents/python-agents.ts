import { join } from 'node:path';
import { agentOf, type Connect } from './agents.js';
import { Program } from '../programs/program.js';
import { hasPythonPackages, PYTHONPATH } from '../sdks/python-packages.js';

const MISSING = 'The Python package mcp is not installed: .ci/run installs it';
/** Milliseconds. Python imports the client in two seconds, and more slowly on a busy machine. */
const TIMEOUT = 60_000;

/** Skips the tests where the package `mcp` is not installed, except in CI. */
export function describeWithPython(name: string, tests: () => void): void {
  if (!hasPythonPackages('mcp')) {
    describe.skip(`${name} (${MISSING})`, () => it('needs the Python client', () => undefined));
    return;
  }
  describe(name, () => {
    // ES modules have no global `jest`.
    import.meta.jest.setTimeout(TIMEOUT);
    tests();
  });
}

/** The Python client, by the revision that it negotiates. */
export const PYTHON_CLIENTS: Readonly<Record<string, Connect>> = {
  '2026-07-28': (baseUrl, token) => connect(baseUrl, token, 'auto'),
  '2025-11-25': (baseUrl, token) => connect(baseUrl, token, 'legacy'),
};

async function connect(baseUrl: string, token: string, mode: string): ReturnType<Connect> {
  const program = new Program(join(import.meta.dirname, 'agent.py'), {
    node: 'python3',
    arguments: [`${baseUrl}/mcp`, mode],
    environment: { PYTHONPATH, TOKEN: token },
    inputStaysOpen: true,
  });
  let lines = 0;
  const nextLine = async (): Promise<string> => {
    const [, line = ''] = await program.waitForOutput(new RegExp(`^(?:.*\n){${lines}}(.*)\n`));
    lines += 1;
    return line;
  };
  const send = async <Result>(request: object): Promise<Result> => {
    program.write(`${JSON.stringify(request)}\n`);
    return JSON.parse(await nextLine()) as Result;
  };
  const revision = await nextLine();
  const client = {
    listTools: () => send<{ tools: { name: string }[] }>({}),
    callTool: ({ name, arguments: input }: { name: string; arguments: object }) =>
      send({ tool: name, arguments: input }),
    close: async () => {
      program.signal('SIGTERM');
      await program.ended;
    },
  };
  return agentOf(client, revision);
}
