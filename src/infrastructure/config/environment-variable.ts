import 'reflect-metadata';
import { IsOptional } from 'class-validator';

/** The shape of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface VariableDefinition {
  /** The name of the variable. `<name>_FILE` may name a file that holds the value instead. */
  readonly name: string;
  readonly property: string;
  readonly description: string;
  /** A secret's value never appears in messages, logs or documents. */
  readonly secret: boolean;
  /** The name of the variable in earlier releases, which is still read. */
  readonly formerName?: string | undefined;
}

export type ConfigurationClass<T extends object = object> = new () => T;

interface ConfigurationDefinition {
  readonly title: string;
  readonly target: ConfigurationClass;
}

const definitions: ConfigurationDefinition[] = [];
const VARIABLES = Symbol('environment variables');

/** Marks a class whose fields are read from environment variables at startup. */
export function Configuration(title: string): ClassDecorator {
  return (target) => {
    definitions.push({ title, target: target as unknown as ConfigurationClass });
  };
}

/**
 * Reads a field from an environment variable. The initial value of the field is the default, its type (string, number,
 * boolean or string array) determines how the text is parsed, and class-validator's decorators validate it. A field
 * without an initial value can stay undefined.
 */
export function EnvironmentVariable(
  name: string,
  description: string,
  { secret = false, formerName }: { secret?: boolean; formerName?: string } = {},
): PropertyDecorator {
  return (prototype, property) => {
    const known = (Reflect.getOwnMetadata(VARIABLES, prototype) ?? []) as VariableDefinition[];
    const definition = { name, property: String(property), description, secret, formerName };
    Reflect.defineMetadata(VARIABLES, [...known, definition], prototype);
    IsOptional()(prototype, property);
  };
}

/** Returns every imported configuration class, in the order of import. */
export function configurationDefinitions(): readonly ConfigurationDefinition[] {
  return definitions;
}

/** Returns the documented variables of a configuration class, in the order of its fields. */
export function variablesOf(target: ConfigurationClass): readonly VariableDefinition[] {
  return (Reflect.getOwnMetadata(VARIABLES, target.prototype) ?? []) as VariableDefinition[];
}
