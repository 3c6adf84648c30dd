import {
  ServiceConfiguration,
  type FurtherRules,
  type LoadedConfiguration,
  type ProductionRules,
} from '../config/index.js';

/**
 * Lists settings that do not fit together, or that are acceptable in development but not in production, as the classes of the
 * settings define them.
 *
 * @param servesHttp whether the process serves its surfaces; other processes send only emails, with links to the dashboard
 */
export function findFurtherProblems(configuration: LoadedConfiguration, servesHttp: boolean): string[] {
  const service = configuration.get(ServiceConfiguration);
  return configuration.classes().flatMap((target) => {
    const rules = configuration.get(target) as Partial<ProductionRules & FurtherRules>;
    return [
      ...(rules.furtherProblems?.(configuration, servesHttp) ?? []),
      ...((service.isProduction && rules.productionProblems?.(service, servesHttp)) || []),
    ];
  });
}
