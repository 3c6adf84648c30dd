import type { EntityManager } from 'typeorm';
import { prepared } from '../../../../infrastructure/database/index.js';

/**
 * A statement whose parameters have names: `$endpointIds` instead of `$3`. They are numbered in the order in which they
 * first appear.
 */
export class Statement<Parameters extends object, Row> {
  private readonly text: string;
  private readonly names: readonly (keyof Parameters & string)[];

  /** @param options.isPrepared false if a plan must not outlive the statistics that it was made with */
  constructor(
    readonly named: string,
    { isPrepared }: { readonly isPrepared: boolean },
  ) {
    const names = new Set([...named.matchAll(/\$([a-z]\w*)/gi)].map(([, name]) => name));
    this.names = [...names] as (keyof Parameters & string)[];
    const numbered = named.replaceAll(
      /\$([a-z]\w*)/gi,
      (_, name: string) => `$${[...names].indexOf(name) + 1}`,
    );
    this.text = isPrepared ? prepared(numbered) : numbered;
  }

  run(manager: EntityManager, parameters: Parameters): Promise<Row[]> {
    const values = this.names.map((name) => {
      if (!(name in parameters)) throw new Error(`The statement requires the parameter ${name}`);
      return parameters[name];
    });
    return manager.query<Row[]>(this.text, values);
  }
}
