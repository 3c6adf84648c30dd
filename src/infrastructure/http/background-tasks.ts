import { Injectable } from '@nestjs/common';

/**
 * Work that continues after the response, such as sending email. Shutdown waits up to 5 seconds for this work before
 * Nest closes the global modules. Nest closes them in no defined order, so the database could otherwise close first.
 */
@Injectable()
export class BackgroundTasks {
  private readonly running = new Set<Promise<void>>();

  /** @param task must handle its own errors */
  begin(task: () => Promise<void>): void {
    const running = task().finally(() => this.running.delete(running));
    this.running.add(running);
  }

  /** Resolves when all tasks have finished, including tasks that other tasks started. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }
}
