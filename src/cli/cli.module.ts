import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { InjectCommander } from 'nest-commander';

/** Contains only commands; each opens the application when it runs. */
@Module({})
export class CliModule {
  constructor(@InjectCommander() commander: { name(text: string): unknown }) {
    // Commander would show the name of the file.
    commander.name('npm run cli --');
  }

  static register(providers: readonly Type[]): DynamicModule {
    return { module: CliModule, providers: [...providers] };
  }
}
