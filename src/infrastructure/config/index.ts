export { isCertificate, isDnsServerList, IsIntegerBetween, parsedUrl, Satisfies } from './checks.js';
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
export {
  ENVIRONMENTS,
  ServiceConfiguration,
  type PlatformEnvironment,
  type ProductionRules,
  type Surface,
} from './service.configuration.js';
