import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

@Configuration('Sessions')
export class SessionsConfiguration {
  @EnvironmentVariable(
    'SESSION_OPENS_PER_MINUTE',
    'Maximum number of sessions that one IP address may open per minute. In mobile networks, many users share an address.',
  )
  @IsIntegerBetween(1, 100000000)
  opensPerMinute: number = 600;
}
