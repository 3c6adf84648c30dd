import { processEnvironment } from '../config/index.js';
import { HttpConfiguration } from '../http/index.js';
import { layFoundation, type Foundation } from './foundation.js';
import { plainSentence } from './plain-sentence.js';
import { onTermination } from './termination.js';

/** Says something to whoever started the program. */
export function say(sentence: string): void {
  process.stdout.write(`${sentence}\n`);
}

/**
 * Runs a program that goes on until it is told to stop. When it cannot start, it lets go of what it stands
 * on, says why in a sentence, and ends with exit code 1.
 *
 * @param start answers how to stop; the foundation is let go of after that
 */
export async function runProgram(
  start: (foundation: Foundation) => Promise<() => Promise<void>>,
): Promise<void> {
  let delay = 0;
  const started = begin((foundation) => {
    delay = foundation.configuration.get(HttpConfiguration).shutdownDelayMilliseconds;
    return start(foundation);
  });
  // Whoever is told to stop while it starts must not leave an embedded database behind either.
  const stopWhenStarted = async (): Promise<void> => {
    const stop = await started;
    await stop();
  };
  onTermination(stopWhenStarted, { delay: () => delay });
  await started;
}

async function begin(
  start: (foundation: Foundation) => Promise<() => Promise<void>>,
): Promise<() => Promise<void>> {
  let release = async (): Promise<void> => undefined;
  try {
    const foundation = await layFoundation(processEnvironment(), say);
    release = foundation.release;
    const stop = await start(foundation);
    return async () => {
      try {
        await stop();
      } finally {
        await release();
      }
    };
  } catch (error) {
    await release();
    process.stderr.write(`${plainSentence(error)}\n`);
    process.exit(1);
  }
}
