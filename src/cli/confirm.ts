/** Asks before something that cannot be undone. */
import { UsageError } from './errors.ts';
import type { Terminal } from './terminal.ts';

/**
 * Returns once the operator has agreed.
 * @throws UsageError when the operator does not agree, or cannot be asked
 */
export async function confirm(terminal: Terminal, question: string): Promise<void> {
  if (!terminal.interactive) throw new UsageError('this cannot be undone: add --yes');
  const answer = await terminal.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('nothing was changed');
}
