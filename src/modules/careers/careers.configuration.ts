import { Configuration, EnvironmentVariable, IsIntegerBetween } from '../../infrastructure/config/index.js';

@Configuration('Careers')
export class CareersConfiguration {
  @EnvironmentVariable(
    'APPLICATION_RETENTION_DAYS',
    'Number of days after which a job application is deleted.',
  )
  @IsIntegerBetween(1, 36500)
  retentionDays: number = 365;

  @EnvironmentVariable(
    'APPLICATIONS_PER_HOUR',
    'Maximum number of requests per hour from one IP address to the job application endpoint.',
  )
  @IsIntegerBetween(1, 100000000)
  requestsPerHour: number = 30;
}
