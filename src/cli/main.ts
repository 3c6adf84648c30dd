import { programFor } from './program.js';

/** Ends with a sentence if a disk is full, and as usual if the reader closes the pipe early, as `| head` does. */
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE') return;
  process.stderr.write(`The output cannot be written (${code}).\n`);
  process.exitCode = 1;
});

const program = await programFor(process.argv.slice(2));

await program.parseAsync().catch(async (error: Error) => {
  // Loading it takes longer than `--help`.
  const { redactText } = await import('../infrastructure/logging/index.js');
  process.stderr.write(`${redactText(String(error.stack))}\n`);
  process.exit(1);
});
