import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { KeyedQueue } from '../../../infrastructure/queues/index.js';
import { SERVICE_UNAVAILABLE } from '../../../infrastructure/errors/index.js';
import { MINUTE, SECOND } from '../../../infrastructure/time/index.js';
import { RefusedLogin } from '../identity-provider.js';
import type { SamlOutcome, SamlTasks } from './saml-thread.js';

/** For one task, without loading the libraries. Tasks that pass the limits of `saml-response.ts` take far less. */
const TIME_LIMIT = 5 * SECOND;
/** For loading the libraries, on a busy machine. */
const START_LIMIT = 30 * SECOND;
/** After the last task. The libraries take about 20 MB. */
const IDLE_TIME = MINUTE;
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 };
const MAX_WAITING = 100;
/** In each of the two queues. Somebody waits for the page. */
const MAX_WAIT = 10 * SECOND;
const timeout = {
  milliseconds: MAX_WAIT,
  error: () => SERVICE_UNAVAILABLE.error(undefined, { retryAfter: MAX_WAIT / SECOND }),
};
const TOO_SLOW = 'Checking the response takes too long. Send fewer attributes or groups.';

/**
 * Reads XML and checks signatures in a thread of its own, which ends if a task takes too long: the libraries are slow for some
 * documents, and anyone can send them. Tasks of one organization wait for each other, and then for one of each other organization.
 */
@Injectable()
export class SamlWorker implements OnModuleDestroy {
  private readonly ofOrganization = new KeyedQueue(1, { maxWaiting: MAX_WAITING, timeout });
  private readonly all = new KeyedQueue(1, { timeout });
  private thread: Worker | undefined;
  private idle: NodeJS.Timeout | undefined;

  onModuleDestroy(): void {
    clearTimeout(this.idle);
    void this.thread?.terminate();
  }

  /**
   * @throws ApiError SERVICE_UNAVAILABLE if too many tasks wait, or for too long. @throws RefusedLogin if the task takes too long or too much memory. @throws SamlFailure with the message of the library
   */
  async run<Name extends keyof SamlTasks>(
    organizationId: string,
    name: Name,
    ...parameters: Parameters<SamlTasks[Name]>
  ): Promise<Awaited<ReturnType<SamlTasks[Name]>>> {
    const perform = () => this.perform({ name, parameters });
    const outcome = await this.ofOrganization.run(organizationId, () => this.all.run('', perform));
    if ('failure' in outcome) throw new SamlFailure(outcome.failure);
    return outcome.value as Awaited<ReturnType<SamlTasks[Name]>>;
  }

  private async perform(task: object): Promise<SamlOutcome> {
    clearTimeout(this.idle);
    const thread = (this.thread ??= await this.start());
    const timer = setTimeout(() => this.end(), TIME_LIMIT);
    const done = new AbortController();
    const { signal } = done;
    try {
      thread.postMessage(task);
      const ended = once(thread, 'exit', { signal }).then(() => {
        throw new RefusedLogin(TOO_SLOW);
      });
      const [outcome] = (await Promise.race([once(thread, 'message', { signal }), ended])) as [SamlOutcome];
      return outcome;
    } catch (error) {
      this.end();
      const isOutOfMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      throw isOutOfMemory ? new RefusedLogin(TOO_SLOW) : error;
    } finally {
      clearTimeout(timer);
      done.abort();
      this.idle = setTimeout(() => this.end(), IDLE_TIME).unref();
    }
  }

  private async start(): Promise<Worker> {
    const thread = await startThread();
    // A thread that has ended neither responds nor ends again, so no task may wait for it.
    thread.once('exit', () => {
      if (this.thread === thread) this.thread = undefined;
    });
    return thread;
  }

  private end(): void {
    void this.thread?.terminate();
    this.thread = undefined;
  }
}

/** A problem that a library found in a document. */
export class SamlFailure extends Error {}

async function startThread(): Promise<Worker> {
  // Options of the program, such as `--import`, are not for the thread.
  const options = { resourceLimits: MEMORY, execArgv: [] };
  const thread = new Worker(new URL('./saml-thread.js', import.meta.url), options);
  thread.unref();
  // Without a listener, an error between two tasks would end the process.
  thread.on('error', () => undefined);
  try {
    await once(thread, 'message', { signal: AbortSignal.timeout(START_LIMIT) });
    return thread;
  } catch (error) {
    void thread.terminate();
    throw error;
  }
}
