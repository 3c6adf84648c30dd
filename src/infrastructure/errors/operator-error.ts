/**
 * Reports that the service cannot start with its configuration, or cannot run a command. The message is written for
 * operators and says what to do, if possible; it is shown without a stack.
 */
export class OperatorError extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = new.target.name;
  }
}
