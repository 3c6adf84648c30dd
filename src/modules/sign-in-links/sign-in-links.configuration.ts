import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

@Configuration('Sign-in links')
export class SignInLinksConfiguration {
  @EnvironmentVariable(
    'SIGN_IN_FORMS_PER_MINUTE',
    'Maximum number of forms per minute that can be sent with one sign-in link. If the link requires a login, each IP address has this limit.',
  )
  @IsIntegerBetween(1, 100000000)
  formsPerMinute: number = 60;

  @EnvironmentVariable(
    'SIGN_IN_LINK_LOGINS_PER_MINUTE',
    'Maximum number of logins per minute that one IP address can begin with sign-in links.',
  )
  @IsIntegerBetween(1, 100000000)
  loginsPerMinute: number = 300;

  @EnvironmentVariable(
    'SIGN_IN_LINKS_PER_CLIENT_AND_DAY',
    'Maximum number of sign-in links of one client per day that are not sent to a phone. TEXT_MESSAGES_PER_CLIENT_AND_DAY limits the others.',
  )
  @IsIntegerBetween(1, 100000000)
  perClientAndDay: number = 10_000;

  @EnvironmentVariable(
    'UNKNOWN_SIGN_IN_LINKS_PER_MINUTE',
    'Maximum number of forms per minute that one IP address can send with sign-in links that do not exist. Links that exist are not affected.',
  )
  @IsIntegerBetween(1, 100000000)
  unknownLinksPerMinute: number = 60;
}
