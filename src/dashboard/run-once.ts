/** Runs the action of a form once, also when a double click sends the form twice: the second form gets the answer of the first. */
import { createLru } from '../system/lru.ts';
import type { Answer } from './page.ts';

/** Maximum number of forms that are remembered. */
const MAX_REMEMBERED = 1_000;

/** Runs an action unless the form with this key has run it already. A form that was refused can be sent again. */
type RunOnce = (key: string, run: () => Promise<Answer>) => Promise<Answer>;

/** Returns a function that has run nothing yet. */
export function createRunOnce(): RunOnce {
  const answers = createLru<string, Promise<Answer>>(MAX_REMEMBERED);
  return async (key, run) => {
    const answering = answers.get(key) ?? run();
    answers.set(key, answering);
    try {
      const answer = await answering;
      // Files are large, and whoever asks twice gets them twice.
      if ('file' in answer || 'frame' in answer) answers.delete(key);
      return answer;
    } catch (error) {
      answers.delete(key);
      throw error;
    }
  };
}
