import { execFile } from 'node:child_process';
import { Logger } from '@nestjs/common';
import type { Environment } from '../config/index.js';

/** How many messages systemd gets within the time after which it restarts a process that sends none. */
const MESSAGES_PER_TIMEOUT = 3;

/**
 * Tells systemd regularly that the process responds, if its unit sets `WatchdogSec` (sd_notify(3)). Node.js has no sockets for
 * these messages, so systemd's own program sends them.
 */
export function notifyWatchdog({ NOTIFY_SOCKET, WATCHDOG_USEC }: Environment): void {
  const timeout = Number(WATCHDOG_USEC) / 1000;
  if (!NOTIFY_SOCKET || !(timeout > 0)) return;
  const notify = (): void => {
    execFile('systemd-notify', ['WATCHDOG=1'], (error) => {
      if (error)
        new Logger('Service').warn(`systemd cannot be told that the process responds: ${error.message}`);
    });
  };
  notify();
  setInterval(notify, timeout / MESSAGES_PER_TIMEOUT).unref();
}
