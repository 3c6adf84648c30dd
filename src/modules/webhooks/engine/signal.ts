/** Something to wait for that may have happened already. */
export class Signal {
  private raised = false;
  private wake: (() => void) | undefined;

  raise(): void {
    this.raised = true;
    this.wake?.();
  }

  /** Resolves when it was raised since the last wait, or after so many milliseconds. */
  async wait(milliseconds: number): Promise<void> {
    if (!this.raised) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.wake = undefined;
    this.raised = false;
  }
}
