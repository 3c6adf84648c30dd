import { readFileSync } from 'node:fs';
import { Module, type DynamicModule } from '@nestjs/common';
import { validateSync } from 'class-validator';
import { OperatorError } from '../errors/index.js';
import {
  configurationDefinitions,
  variablesOf,
  type ConfigurationClass,
  type Environment,
  type VariableDefinition,
} from './environment-variable.js';

/** Reports all problems of the configuration to the operator. */
export class ConfigurationError extends OperatorError {
  constructor(readonly problems: readonly string[]) {
    super(`The configuration is not usable:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
  }
}

/** The values of all configuration classes. */
export class LoadedConfiguration {
  constructor(private readonly instances: ReadonlyMap<ConfigurationClass, object>) {}

  get<T extends object>(target: ConfigurationClass<T>): T {
    const instance = this.instances.get(target);
    if (!instance) throw new Error(`${target.name} lacks the @Configuration decorator`);
    return instance as T;
  }

  /** Returns the same values, except for some of a class. The values themselves never change. */
  with<T extends object>(target: ConfigurationClass<T>, changes: Partial<T>): LoadedConfiguration {
    const changed = Object.assign(new target(), this.get(target), changes);
    return new LoadedConfiguration(new Map([...this.instances, [target, changed]]));
  }

  classes(): readonly ConfigurationClass[] {
    return [...this.instances.keys()];
  }
}

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

/** Returns `process.env`, which no other code of the service reads. */
export function processEnvironment(): Environment {
  return process.env;
}

/**
 * Reads every imported configuration class from the environment.
 *
 * @param findFurtherProblems checks the values of all classes together, after each class was checked by itself
 * @throws ConfigurationError with all problems, not only the first
 */
export function loadConfiguration(
  environment: Environment,
  findFurtherProblems: (configuration: LoadedConfiguration) => readonly string[] = () => [],
): LoadedConfiguration {
  const problems: string[] = [];
  const instances = new Map<ConfigurationClass, object>();
  for (const { target } of configurationDefinitions()) {
    const instance = new target() as Record<string, unknown>;
    const unreadable = new Set<string>();
    for (const variable of variablesOf(target)) {
      try {
        const text = readText(environment, variable);
        if (text !== undefined) instance[variable.property] = convert(text, target, variable);
      } catch (error) {
        unreadable.add(variable.property);
        problems.push((error as Error).message);
      }
    }
    problems.push(...violations(instance, target, unreadable));
    instances.set(target, instance);
  }
  const configuration = new LoadedConfiguration(instances);
  problems.push(...findFurtherProblems(configuration));
  if (problems.length > 0) throw new ConfigurationError(problems);
  return configuration;
}

/**
 * Returns the text of a variable. An empty variable counts as not set, because compose files pass unset variables as
 * empty.
 */
function readText(environment: Environment, variable: VariableDefinition): string | undefined {
  const direct = environment[variable.name] || undefined;
  const file = environment[`${variable.name}_FILE`] || undefined;
  if (direct !== undefined && file !== undefined) {
    throw new Error(`${variable.name} and ${variable.name}_FILE are both set; keep one of them.`);
  }
  if (file === undefined) return direct;
  try {
    return readFileSync(file, 'utf8').trimEnd();
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw new Error(`${variable.name}_FILE names ${file}, which cannot be read (${code}).`);
  }
}

function convert(text: string, target: ConfigurationClass, variable: VariableDefinition): unknown {
  switch (Reflect.getMetadata('design:type', target.prototype, variable.property)) {
    case Number: {
      // Number() would accept more: Number('') is 0 and Number('0x10') is 16.
      if (!/^-?\d+(\.\d+)?$/.test(text)) throw new Error(`${variable.name} must be a number.`);
      return Number(text);
    }
    case Boolean: {
      if (/^(true|on|yes|1)$/i.test(text)) return true;
      if (/^(false|off|no|0)$/i.test(text)) return false;
      throw new Error(`${variable.name} must be on or off.`);
    }
    case Array:
      return text.split(',').map((item) => item.trim());
    default:
      return text;
  }
}

function violations(instance: object, target: ConfigurationClass, unreadable: Set<string>): string[] {
  const names = new Map(variablesOf(target).map((variable) => [variable.property, variable.name]));
  return validateSync(instance, { stopAtFirstError: true, forbidUnknownValues: false })
    .filter((violation) => !unreadable.has(violation.property))
    .map((violation) => {
      const name = names.get(violation.property) ?? violation.property;
      const [message] = Object.values(violation.constraints ?? {});
      return `${String(message).replaceAll(violation.property, name)}.`;
    });
}
