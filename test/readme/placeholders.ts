/**
 * Ids in the examples of the documents are shortened (`em_…`). A reader puts the id of the last answer in their place,
 * and so do the tests.
 */
import type { Exchange } from './recorder.ts';

const SHORTENED_ID = /\b([a-z]+)_…/g;

/**
 * Returns the example with each shortened id replaced by the latest id of its kind that an answer has returned.
 *
 * @throws Error when no answer has returned such an id yet
 */
export function fillInIds(text: string, exchanges: readonly Exchange[]): string {
  return text.replaceAll(SHORTENED_ID, (shortened, prefix: string) => {
    const ids = exchanges.map(({ body }): unknown => body?.id);
    const id = ids.findLast((value) => typeof value === 'string' && value.startsWith(`${prefix}_`));
    if (typeof id !== 'string') throw new Error(`${shortened} is used before any answer returns such an id`);
    return id;
  });
}
