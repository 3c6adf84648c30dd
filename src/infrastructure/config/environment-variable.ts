import 'reflect-metadata';

/** What the environment says: the shape of `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One documented variable of a configuration class. */
export interface VariableDefinition {
  /** Name in the environment; `<name>_FILE` names a file that holds the value instead. */
  readonly name: string;
  readonly property: string;
  readonly description: string;
  /** A secret's value appears in no message, no log and no document. */
  readonly secret: boolean;
}

export type ConfigurationClass<T extends object = object> = new () => T;

interface ConfigurationDefinition {
  readonly title: string;
  readonly target: ConfigurationClass;
}

const definitions: ConfigurationDefinition[] = [];
const VARIABLES = Symbol('environment variables');

/** Marks a class whose fields are read from the environment when the process starts. */
export function Configuration(title: string): ClassDecorator {
  return (target) => {
    definitions.push({ title, target: target as unknown as ConfigurationClass });
  };
}

/**
 * Reads a field from an environment variable. The field's initial value is the default and its type
 * (string, number, boolean or string array) decides how the text is read; class-validator's decorators
 * beside it decide what is allowed.
 */
export function EnvironmentVariable(
  name: string,
  description: string,
  options: { secret?: boolean } = {},
): PropertyDecorator {
  return (prototype, property) => {
    const known = (Reflect.getOwnMetadata(VARIABLES, prototype) ?? []) as VariableDefinition[];
    const definition = { name, property: String(property), description, secret: options.secret ?? false };
    Reflect.defineMetadata(VARIABLES, [...known, definition], prototype);
  };
}

/** Every configuration class that has been imported, in the order of import. */
export function configurationDefinitions(): readonly ConfigurationDefinition[] {
  return definitions;
}

/** The documented variables of a configuration class, in the order of its fields. */
export function variablesOf(target: ConfigurationClass): readonly VariableDefinition[] {
  return (Reflect.getOwnMetadata(VARIABLES, target.prototype) ?? []) as VariableDefinition[];
}
