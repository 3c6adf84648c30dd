import { Module, type DynamicModule } from '@nestjs/common';
import { LoadedConfiguration } from './load-configuration.js';

/** Makes every configuration class injectable, with the values that were read at startup. */
@Module({})
export class ConfigurationModule {
  static register(configuration: LoadedConfiguration): DynamicModule {
    const providers = [
      { provide: LoadedConfiguration, useValue: configuration },
      ...configuration.classes().map((target) => ({ provide: target, useValue: configuration.get(target) })),
    ];
    return { module: ConfigurationModule, global: true, providers, exports: providers };
  }
}
