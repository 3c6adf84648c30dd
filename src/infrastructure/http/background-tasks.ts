import { Injectable } from '@nestjs/common';

/**
 * Work that a request begins and no caller waits for. A shutdown does: Nest closes global modules, the
 * database among them, in no order that one may rely on, so this is asked before any of them.
 */
@Injectable()
export class BackgroundTasks {
  private readonly running = new Set<Promise<void>>();

  /** @param task what it throws it has to deal with itself */
  begin(task: () => Promise<void>): void {
    const done = task().finally(() => this.running.delete(done));
    this.running.add(done);
  }

  /** Resolves when nothing is under way, also nothing that another task began. */
  async settled(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running);
  }
}
