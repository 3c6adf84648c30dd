import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

@Configuration('Sign-in links')
export class SignInLinksConfiguration {
  @EnvironmentVariable(
    'SIGN_IN_FORMS_PER_MINUTE',
    'Maximum number of forms per minute that can be sent with one sign-in link.',
  )
  @IsIntegerBetween(1, 100_000_000)
  formsPerMinute: number = 60;

  @EnvironmentVariable(
    'UNKNOWN_SIGN_IN_LINKS_PER_MINUTE',
    'Maximum number of forms per minute that one IP address can send with sign-in links that do not exist. Links that exist are not affected.',
  )
  @IsIntegerBetween(1, 100_000_000)
  unknownLinksPerMinute: number = 60;
}
