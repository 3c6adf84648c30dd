import { ServiceConfiguration, type LoadedConfiguration, type ProductionRules } from '../config/index.js';

/**
 * Lists settings that are acceptable in development but not in production, as the classes of the settings define them.
 *
 * @param servesHttp whether the process serves its surfaces; other processes send only emails, with links to the dashboard
 */
export function findProductionProblems(configuration: LoadedConfiguration, servesHttp: boolean): string[] {
  const service = configuration.get(ServiceConfiguration);
  if (!service.isProduction) return [];
  return configuration.classes().flatMap((target) => {
    const rules = configuration.get(target) as Partial<ProductionRules>;
    return rules.productionProblems?.(service, servesHttp) ?? [];
  });
}
