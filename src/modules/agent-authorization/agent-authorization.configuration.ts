import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

const MAX_REQUESTS = 100_000_000;

@Configuration('Agents that log in')
export class AgentAuthorizationConfiguration {
  @EnvironmentVariable(
    'AGENT_AUTHORIZATIONS_PER_MINUTE',
    'Maximum number of requests per minute from one IP address to the pages on which users connect agents, or return from a login for a sign-in link or for their own page.',
  )
  @IsIntegerBetween(1, MAX_REQUESTS)
  authorizationsPerMinute: number = 300;

  @EnvironmentVariable(
    'AGENT_REGISTRATIONS_PER_HOUR',
    'Maximum number of agents that may register per hour with one API client from one IP address, and ten times as many with all API clients. An agent in the cloud registers for many users from few addresses.',
  )
  @IsIntegerBetween(1, MAX_REQUESTS)
  registrationsPerHour: number = 300;
}
