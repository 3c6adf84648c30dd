/**
 * What an operator asked for cannot be done: a start with this configuration, a command. The message is
 * a plain sentence for them, with the way out where there is one; no stack is shown with it.
 */
export class OperatorError extends Error {
  constructor(sentence: string, options?: ErrorOptions) {
    super(sentence, options);
    this.name = new.target.name;
  }
}
