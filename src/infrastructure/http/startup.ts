import { Injectable } from '@nestjs/common';

/** The last steps of a start, which need the port: the process listens already, but reports that it is not ready. */
@Injectable()
export class Startup {
  private isCompleting = false;

  get isRunning(): boolean {
    return this.isCompleting;
  }

  /** If the work fails, the process is never ready. */
  async complete(work: () => Promise<void>): Promise<void> {
    this.isCompleting = true;
    await work();
    this.isCompleting = false;
  }
}
