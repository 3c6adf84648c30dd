import { Injectable, type INestApplicationContext } from '@nestjs/common';
import { CommandRunner } from 'nest-commander';
import { OperatorSession } from '../operator-session.js';

/** A command that runs once on the application. */
@Injectable()
export abstract class OperatorCommand extends CommandRunner {
  constructor(private readonly session: OperatorSession) {
    super();
  }

  override run(parameters: string[], options: object): Promise<void> {
    return this.session.run((app) => this.execute(app, options, parameters));
  }

  protected abstract execute(
    app: INestApplicationContext,
    options: object,
    parameters: readonly string[],
  ): Promise<void>;
}
