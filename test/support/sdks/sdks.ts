import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { installClients } from '../programs/installed-clients.js';
import { hasPythonPackages, installPythonSdk, PYTHONPATH } from './python-packages.js';
import type { SdkCall } from './sdk-cases.js';

/** An SDK that makes calls in a process of its own. */
export class Sdk {
  private readonly lines: AsyncIterator<string>;

  private constructor(private readonly driver: ChildProcess) {
    this.lines = createInterface({ input: driver.stdout! })[Symbol.asyncIterator]();
  }

  /** Starts the client that an entry of `SDKS` names. */
  static async start(name: string): Promise<Sdk> {
    const { command, environment } = await (name === 'TypeScript' ? typeScriptDriver() : pythonDriver(name));
    const [program = '', ...words] = command;
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, ...environment };
    return new Sdk(spawn(program, words, { env, stdio: ['pipe', 'pipe', 'inherit'] }));
  }

  /** Returns what comes of a call: `{ result }` or `{ error }`. */
  async outcomeOf(call: SdkCall): Promise<unknown> {
    this.driver.stdin?.write(`${JSON.stringify(call)}\n`);
    const { value, done } = await this.lines.next();
    if (done) throw new Error('The driver of the SDK has ended.');
    return JSON.parse(value) as unknown;
  }

  async end(): Promise<void> {
    const ended = once(this.driver, 'close');
    this.driver.stdin?.end();
    await ended;
  }
}

/** The clients of the SDKs that this machine can run. */
export const SDKS = [
  'TypeScript',
  ...(hasPythonPackages('httpx', 'cryptography') ? ['Python', 'Python with asyncio'] : []),
];

interface Driver {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

async function typeScriptDriver(): Promise<Driver> {
  const { folder } = await installClients();
  const script = join(folder, 'sdk-driver.mjs');
  copyFileSync(join(import.meta.dirname, 'sdk-driver.mjs'), script);
  return { command: [process.execPath, script] };
}

async function pythonDriver(name: string): Promise<Driver> {
  const folder = await installPythonSdk();
  const kind = name === 'Python' ? 'sync' : 'async';
  return {
    command: [process.env['SDK_PYTHON'] ?? 'python3', join(import.meta.dirname, 'sdk_driver.py'), kind],
    environment: { PYTHONPATH: `${folder}:${PYTHONPATH}`, PYTHONWARNINGS: 'error' },
  };
}
