/** Ends the answer of FETCH, STORE or SEARCH with changes in the same call, because an account can be in another thread. */
import { type Chunks, isRefusal, type Reporting, type SelectedMailbox } from './session.ts';

/** Yields an answer, and then what the client was not told yet, unless the session ends. */
export async function* endWithChanges(
  answer: Chunks,
  { thenChanges }: Reporting,
  selected: Pick<SelectedMailbox, 'changes'>,
): Chunks {
  const result = yield* answer;
  if (thenChanges === undefined || (isRefusal(result) && result.refused === 'BYE')) return result;
  return (yield* selected.changes(thenChanges)) ?? result;
}
