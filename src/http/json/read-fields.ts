/** Readers of the fields of a request, which report every wrong field at once. */
import { AppError, type Issue } from '../../system/errors.ts';

/** Maximum number of issues that one refusal lists. */
export const MAX_ISSUES = 20;

/** Merges refusals into one that has the message and `param` of the first and the issues of all, one per field. */
export function mergeRefusals(first: AppError, ...others: readonly AppError[]): AppError {
  const issues = new Map<string, Issue>();
  for (const issue of [first, ...others].flatMap(({ options }) => options.issues ?? [])) {
    if (!issues.has(issue.path)) issues.set(issue.path, issue);
  }
  const listed = [...issues.values()].slice(0, MAX_ISSUES);
  return new AppError(first.code, first.message, { ...first.options, issues: listed });
}

type Results<Readers extends Readonly<Record<string, () => unknown>>> = {
  [Name in keyof Readers]: Readers[Name] extends () => infer Result ? Result : never;
};

/**
 * Runs readers of one request that do not depend on each other, so that the caller learns of every wrong field at once.
 *
 * @returns the result of each reader, by its name
 * @throws AppError validation_error with the issues of all readers that refused; any other error at once
 */
export function readAll<Readers extends Readonly<Record<string, () => unknown>>>(
  readers: Readers,
): Results<Readers> {
  const results = collect(Object.entries(readers), Infinity, ([name, read]) => [name, read()] as const);
  return Object.fromEntries(results) as Results<Readers>;
}

/**
 * Reads every item of a list. It continues after a refused item until MAX_ISSUES items were refused.
 *
 * @throws AppError validation_error with the issues of all items that were refused; any other error at once
 */
export function readEach<Item, Result>(
  items: readonly Item[],
  read: (item: Item, index: number) => Result,
): Result[] {
  return collect(items, MAX_ISSUES, read);
}

function collect<Item, Result>(
  items: readonly Item[],
  maxRefusals: number,
  read: (item: Item, index: number) => Result,
): Result[] {
  const results: Result[] = [];
  const refusals: AppError[] = [];
  for (let index = 0; index < items.length && refusals.length < maxRefusals; index++) {
    try {
      results.push(read(items[index] as Item, index));
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'validation_error')) throw error;
      refusals.push(error);
    }
  }
  const [first, ...others] = refusals;
  if (first) throw mergeRefusals(first, ...others);
  return results;
}
