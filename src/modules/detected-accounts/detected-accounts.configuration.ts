import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

@Configuration('Detected accounts')
export class DetectedAccountsConfiguration {
  @EnvironmentVariable(
    'DETECTED_ACCOUNT_RETENTION_DAYS',
    'Number of days after which a detected account is deleted. If the account is detected again, the client is notified again. By default, detected accounts are kept until their user is erased.',
  )
  @IsIntegerBetween(1, 36500)
  retentionDays?: number;
}
