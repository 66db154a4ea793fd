import { PostriderError } from './errors.ts';

/** One page of a list. */
export interface Page<T> {
  data: T[];
  /** True when more items follow in the direction of the list. */
  hasMore: boolean;
  /** Cursor for `startingAfter`, which leads to older items. */
  nextCursor: string | null;
}

type Cursors = { startingAfter?: string; endingBefore?: string };
type PageFields = { nextCursor?: string | null; previousCursor?: string | null };

/**
 * A list: `await` it for one page, or iterate over the items of all pages, which are fetched when they are needed.
 * With `endingBefore` each next page has newer items. Nothing is asked before either.
 */
export class List<T> implements Promise<Page<T>>, AsyncIterable<T> {
  readonly #fetchPage: (query: Cursors) => Promise<Page<T>>;
  readonly #query: Cursors;
  #first: Promise<Page<T>> | undefined;

  constructor(fetchPage: (query: Cursors) => Promise<unknown>, query: object = {}) {
    this.#fetchPage = fetchPage as (query: Cursors) => Promise<Page<T>>;
    this.#query = query ?? {};
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    let query = this.#query;
    let page = await this.#firstPage();
    for (;;) {
      yield* page.data;
      if (!page.hasMore) return;
      query = nextQuery(page, query);
      page = await this.#fetchPage(query);
    }
  }

  // biome-ignore lint/suspicious/noThenProperty: a list is a promise of its first page.
  then<A = Page<T>, B = never>(
    onPage?: ((page: Page<T>) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#firstPage().then(onPage, onError);
  }

  catch<B = never>(onError?: ((error: unknown) => B | PromiseLike<B>) | null): Promise<Page<T> | B> {
    return this.#firstPage().catch(onError);
  }

  finally(onEnd?: (() => void) | null): Promise<Page<T>> {
    return this.#firstPage().finally(onEnd);
  }

  get [Symbol.toStringTag](): string {
    return 'List';
  }

  #firstPage(): Promise<Page<T>> {
    this.#first ??= this.#fetchPage(this.#query);
    return this.#first;
  }
}

function nextQuery<T>(page: Page<T> & PageFields, query: Cursors): Cursors {
  const isBackwards = query.endingBefore !== undefined && query.endingBefore !== null;
  const name = isBackwards ? 'endingBefore' : 'startingAfter';
  const [first, last] = [idOf(page.data[0]), idOf(page.data.at(-1))];
  const cursor = isBackwards ? (page.previousCursor ?? first) : (page.nextCursor ?? last);
  // The same page would come again, without an end.
  if (cursor === undefined || cursor === query[name])
    throw new PostriderError({
      type: 'invalid_response',
      message: 'The list says that more items follow, but not where.',
    });
  return { ...query, [name]: cursor };
}

function idOf(item: unknown): string | undefined {
  const { id } = (item ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : undefined;
}
