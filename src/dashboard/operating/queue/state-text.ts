/** Says the state of a recipient in words. */
import type { Texts } from '../../texts/texts.ts';

/** Returns the state in the person's language. States of mail that has ended have the names of the API. */
export function stateText({ queue: { states } }: Texts, state: string): string {
  return Object.hasOwn(states, state) ? states[state as keyof typeof states] : state;
}
