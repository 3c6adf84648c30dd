import { EXIT } from './output.js';
import { programFor } from './program.js';

const program = await programFor(process.argv.slice(2));

await program.parseAsync().catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exit(EXIT.failed);
});
