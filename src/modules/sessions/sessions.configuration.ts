import { IsInt, Max, Min } from 'class-validator';
import { Configuration, EnvironmentVariable } from '../../infrastructure/config/index.js';

@Configuration('Sessions')
export class SessionsConfiguration {
  @EnvironmentVariable(
    'SESSION_OPENS_PER_MINUTE',
    'Sessions that may be opened per minute and address. Mobile networks have many users behind one address.',
  )
  @IsInt()
  @Min(1)
  @Max(100_000_000)
  opensPerMinute: number = 600;
}
