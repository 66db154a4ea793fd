/** Says the state of a recipient in words. */
import type { Texts } from '../../texts/texts.ts';

/** Returns the state in the person's language. Mail that has ended has the words that its sender sees. */
export function stateText({ queue, emails }: Texts, state: string): string {
  const words: Readonly<Record<string, string>> = { ...emails.recipientStatuses, ...queue.states };
  return words[state] ?? state;
}
