/** One page of a list. */
export interface Page<Item> {
  readonly data: Item[];
  /** Leads to the next page; null on the last one. */
  readonly next_cursor: string | null;
  /** Maximum number of items per page. */
  readonly limit: number;
}

/**
 * A list that comes in pages. `await` it for the first page, or iterate over it with `for await` for the items of all pages,
 * which are requested one after the other as you go.
 */
export class Pages<Item> implements PromiseLike<Page<Item>>, AsyncIterable<Item> {
  private first: Promise<Page<Item>> | undefined;

  constructor(private readonly request: (cursor?: string) => Promise<Page<Item>>) {}

  // `await` gives the first page.
  // oxlint-disable-next-line unicorn/no-thenable
  then<Value = Page<Item>, Failure = never>(
    onPage?: ((page: Page<Item>) => Value | PromiseLike<Value>) | null,
    onError?: ((error: unknown) => Failure | PromiseLike<Failure>) | null,
  ): Promise<Value | Failure> {
    this.first ??= this.request();
    return this.first.then(onPage, onError);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    let page = await this.then((first) => first);
    for (;;) {
      yield* page.data;
      if (page.next_cursor === null) return;
      page = await this.request(page.next_cursor);
    }
  }
}
