import { processEnvironment } from '../config/index.js';
import { layFoundation, type Foundation } from './foundation.js';
import { plainSentence } from './plain-sentence.js';

/** Says something to whoever started the program. */
export function say(sentence: string): void {
  process.stdout.write(`${sentence}\n`);
}

/**
 * Runs a program that goes on until it is told to stop. When it cannot start, it lets go of what it stands
 * on, says why in a sentence, and ends with exit code 1.
 */
export async function runProgram(start: (foundation: Foundation) => Promise<void>): Promise<void> {
  let foundation: Foundation | undefined;
  try {
    foundation = await layFoundation(processEnvironment(), say);
    await start(foundation);
  } catch (error) {
    await foundation?.release();
    process.stderr.write(`${plainSentence(error)}\n`);
    process.exit(1);
  }
}
