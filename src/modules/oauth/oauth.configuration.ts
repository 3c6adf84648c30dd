import { IsIn } from 'class-validator';
import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';
import { TOKEN_ALGORITHMS } from './tokens/token-signing-key.entity.js';

const MAX_REQUESTS = 100_000_000;

@Configuration('Device flow and access tokens')
export class OAuthConfiguration {
  @EnvironmentVariable(
    'DEVICE_VERIFICATION_URI_COMPLETE',
    'Whether devices get an address with the user code in it. Convenient for QR codes, and for phishing: a user who follows the link does not see the code on their own device (RFC 10027).',
  )
  verificationUriComplete: boolean = false;

  @EnvironmentVariable('DEVICE_CODES_PER_MINUTE', 'Requests for device codes per minute and address.')
  @IsIntegerBetween(1, MAX_REQUESTS)
  deviceCodesPerMinute: number = 60;

  @EnvironmentVariable(
    'OAUTH_REQUESTS_PER_MINUTE',
    'Requests to the other OAuth endpoints that take no credentials, per minute and address. A waiting device makes 12.',
  )
  @IsIntegerBetween(1, MAX_REQUESTS)
  requestsPerMinute: number = 1_200;

  @EnvironmentVariable('INTROSPECTIONS_PER_MINUTE', 'Introspections of tokens per minute and client.')
  @IsIntegerBetween(1, MAX_REQUESTS)
  introspectionsPerMinute: number = 12_000;

  @EnvironmentVariable(
    'TOKEN_ALGORITHM',
    'What new signing keys are for: `ES256` or `RS256`. A change takes effect with the next key, which the background work then makes within the hour.',
  )
  @IsIn(TOKEN_ALGORITHMS)
  tokenAlgorithm: string = 'ES256';

  @EnvironmentVariable(
    'TOKEN_KEY_ROTATION_DAYS',
    'Days after which a new key signs access tokens; 0 leaves that to `token-key rotate`.',
  )
  @IsIntegerBetween(0, 3_650)
  tokenKeyRotationDays: number = 30;
}
