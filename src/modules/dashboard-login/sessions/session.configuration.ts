import {
  Configuration,
  EnvironmentVariable,
  IsIntegerBetween,
} from '../../../infrastructure/config/index.js';
import { MINUTE } from '../../../infrastructure/time/index.js';

@Configuration('Logins')
export class SessionConfiguration {
  @EnvironmentVariable(
    'SESSION_IDLE_MINUTES',
    'Minutes without a request after which a login in a browser ends, up to 720. With 0, it ends only after 12 hours.',
  )
  @IsIntegerBetween(0, 720)
  idleMinutes: number = 0;

  /** Milliseconds; infinite without a limit. */
  get idleTime(): number {
    return this.idleMinutes === 0 ? Infinity : this.idleMinutes * MINUTE;
  }
}
