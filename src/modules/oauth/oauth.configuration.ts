import { IsIn } from 'class-validator';
import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';
import { TOKEN_ALGORITHMS } from './access-token.js';

const MAX_REQUESTS = 100_000_000;

@Configuration('Device flow and access tokens')
export class OAuthConfiguration {
  @EnvironmentVariable(
    'DEVICE_VERIFICATION_URI_COMPLETE',
    'Whether responses with device codes include `verification_uri_complete`, a link that contains the user code. The link is useful for QR codes, but it makes phishing easier: the user does not have to copy a code from a device in front of them (RFC 8628, section 5.4). If disabled, `/device` ignores a code in its URL.',
  )
  verificationUriComplete: boolean = false;

  @EnvironmentVariable(
    'DEVICE_CODES_PER_MINUTE',
    'Maximum number of device codes that one IP address may request per minute.',
  )
  @IsIntegerBetween(1, MAX_REQUESTS)
  deviceCodesPerMinute: number = 60;

  @EnvironmentVariable(
    'OAUTH_REQUESTS_PER_MINUTE',
    'Maximum number of requests per minute from one IP address to the other OAuth endpoints without credentials. A device that polls every 5 seconds sends 12. For agents that log in, it applies to each API client, and ten times as many requests may be sent to all of them.',
  )
  @IsIntegerBetween(1, MAX_REQUESTS)
  requestsPerMinute: number = 1_200;

  @EnvironmentVariable(
    'INTROSPECTIONS_PER_MINUTE',
    'Maximum number of introspection requests per minute from one client.',
  )
  @IsIntegerBetween(1, MAX_REQUESTS)
  introspectionsPerMinute: number = 12_000;

  @EnvironmentVariable(
    'TOKEN_ALGORITHM',
    'Algorithm of new signing keys: `ES256` or `RS256`. After a change, the background work creates a key with the new algorithm within about an hour, and the key signs tokens 10 minutes later. If `TOKEN_KEY_ROTATION_DAYS` is 0, run `mcs-admin token-key rotate`.',
  )
  @IsIn(TOKEN_ALGORITHMS)
  tokenAlgorithm: string = 'ES256';

  @EnvironmentVariable(
    'TOKEN_KEY_ROTATION_DAYS',
    'Days after which signing keys are rotated. 0 disables automatic rotation; run `mcs-admin token-key rotate`.',
  )
  @IsIntegerBetween(0, 3_650)
  tokenKeyRotationDays: number = 30;
}
