import { CommandFactory } from 'nest-commander';
import { CliModule } from './cli.module.js';
import { EXIT } from './operator-session.js';

await CommandFactory.run(CliModule, {
  logger: false,
  serviceErrorHandler: (error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(EXIT.failed);
  },
});
