export {
  isCertificate,
  isDnsServerList,
  IsHttpUrl,
  IsIntegerBetween,
  IsListenAddress,
  parsedUrl,
  Satisfies,
} from './checks.js';
export {
  Configuration,
  configurationDefinitions,
  EnvironmentVariable,
  variablesOf,
  type Environment,
} from './environment-variable.js';
export {
  ConfigurationModule,
  loadConfiguration,
  LoadedConfiguration,
  processEnvironment,
} from './load-configuration.js';
export { misspelledVariables } from './misspelled-variables.js';
export {
  ENVIRONMENTS,
  ServiceConfiguration,
  type FurtherRules,
  type PlatformEnvironment,
  type ProductionRules,
  type Surface,
} from './service.configuration.js';
