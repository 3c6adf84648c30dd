import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

@Configuration('Page of the user')
export class UserPageConfiguration {
  @EnvironmentVariable(
    'USER_PAGES_PER_MINUTE',
    'Maximum number of requests per minute from one IP address to the pages on which users see which agents act for them.',
  )
  @IsIntegerBetween(1, 100000000)
  pagesPerMinute: number = 300;
}
