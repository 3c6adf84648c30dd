import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

@Configuration('Sign-in links')
export class SignInLinksConfiguration {
  @EnvironmentVariable(
    'SIGN_IN_FORMS_PER_MINUTE',
    'Maximum number of forms per minute that one IP address can send to the pages of sign-in links. Phones of one network may share an address.',
  )
  @IsIntegerBetween(1, 100_000_000)
  formsPerMinute: number = 60;
}
