import { CommandFactory } from 'nest-commander';
import { CliModule, commandsFor } from './cli.module.js';
import { EXIT } from './output.js';

const providers = await commandsFor(process.argv.slice(2));

await CommandFactory.run(CliModule.register(providers), {
  logger: false,
  serviceErrorHandler: (error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(EXIT.failed);
  },
});
