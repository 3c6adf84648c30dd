import { readFileSync } from 'node:fs';
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
    const unreadable = new Map<string, string>();
    for (const variable of variablesOf(target)) {
      try {
        const text = readText(environment, namedIn(environment, variable));
        if (text !== undefined) instance[variable.property] = convert(text, target, variable);
      } catch (error) {
        unreadable.set(variable.property, (error as Error).message);
      }
    }
    problems.push(...unreadable.values(), ...violations(instance, target, unreadable));
    instances.set(target, instance);
  }
  const configuration = new LoadedConfiguration(instances);
  // A setting with a problem has no value yet, so that what follows from its value is not known.
  const known = [...problems];
  const isDoubtful = (further: string): boolean =>
    known.some((problem) => further.split(/\W/)[0] === problem.split(/\W/)[0]?.replace(/_FILE$/, ''));
  problems.push(...findFurtherProblems(configuration).filter((further) => !isDoubtful(further)));
  if (problems.length > 0)
    throw new ConfigurationError(problems.map((problem) => withQuotes(problem, environment)));
  return configuration;
}

const QUOTED = 'The value is in quotation marks, which are part of it: remove them.';

/** Unlike a shell, `docker run --env-file` and manifests of Kubernetes keep the quotation marks around a value. */
function withQuotes(problem: string, environment: Environment): string {
  const value = environment[problem.split(/\W/)[0] ?? ''] ?? '';
  return /^(["']).*\1$/.test(value) ? `${problem} ${QUOTED}` : problem;
}

/**
 * Kubernetes and Docker set `<NAME>_PORT` to such an address for each Service of the namespace, so that a Service called `metrics` would
 * set `METRICS_PORT`.
 */
const PORT_OF_A_SERVICE = /^(?:tcp|udp|sctp):\/\//;

/** Returns the variable with the name that the environment has: the present one, or that of earlier releases. */
function namedIn(environment: Environment, variable: VariableDefinition): VariableDefinition {
  const { name, formerName } = variable;
  const isSet = (each: string): boolean => Boolean(environment[each] || environment[`${each}_FILE`]);
  if (formerName === undefined || !isSet(formerName)) return variable;
  if (isSet(name)) throw new Error(`${name} and ${formerName}, its former name, are both set; keep ${name}.`);
  return { ...variable, name: formerName };
}

/**
 * Returns the text of a variable, without line breaks at its end, which scripts and Windows leave. An empty variable counts as not set,
 * because compose files pass unset variables as empty.
 */
function readText(environment: Environment, variable: VariableDefinition): string | undefined {
  const value = withLineBreaks(environment[variable.name] ?? '').replace(/[\r\n]+$/, '') || undefined;
  const isForeign = variable.name.endsWith('_PORT') && PORT_OF_A_SERVICE.test(value ?? '');
  const direct = isForeign ? undefined : value;
  const file = environment[`${variable.name}_FILE`] || undefined;
  if (direct !== undefined && file !== undefined) {
    throw new Error(`${variable.name} and ${variable.name}_FILE are both set; keep one of them.`);
  }
  if (file === undefined) return direct;
  const text = contentOf(file, variable);
  if (text === '') throw new Error(`${variable.name}_FILE names ${file}, which is empty.`);
  return text;
}

/** Restores the line breaks of a certificate, for which `docker run --env-file` and many platforms leave only `\n`. */
function withLineBreaks(value: string): string {
  return value.startsWith('-----BEGIN ') ? value.replaceAll(/(?:\\r)?\\n/g, '\n') : value;
}

function contentOf(file: string, variable: VariableDefinition): string {
  try {
    return readFileSync(file, 'utf8')
      .replace(/^\uFEFF/, '')
      .trimEnd();
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
      throw new Error(`${variable.name} must be on or off (or true or false, yes or no, 1 or 0).`);
    }
    case Array:
      return text
        .replace(/,\s*$/, '')
        .split(',')
        .map((item) => item.trim());
    default:
      return text;
  }
}

/** Leaves out the problems that mention an unreadable setting: they may only follow from it. */
function violations(
  instance: object,
  target: ConfigurationClass,
  unreadable: ReadonlyMap<string, string>,
): string[] {
  const names = new Map(variablesOf(target).map((variable) => [variable.property, variable.name]));
  const doubtful = [...unreadable.keys()].map((property) => names.get(property) ?? property);
  return validateSync(instance, { forbidUnknownValues: false })
    .map(({ property, constraints = {} }) => {
      const name = names.get(property) ?? property;
      // Decorators run from the last to the first, which checks the form of the value.
      const message = String(Object.values(constraints).at(-1));
      return `${message.replaceAll(property, name)}.`;
    })
    .filter((problem) => !doubtful.some((name) => problem.split(/\W/).includes(name)));
}
