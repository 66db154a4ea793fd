/** Runs the action of a form once, also when a double click sends the form twice: the second form gets the answer of the first. */

import type { Clock } from '../system/clock.ts';
import { createLru } from '../system/lru.ts';
import type { Answer } from './page.ts';

/** Maximum number of sessions whose forms are remembered, and of forms of each of them, so that nobody pushes out the forms of others. */
const MAX_SESSIONS = 1_000;
const MAX_FORMS = 4;
/** Time for which a form is remembered, in milliseconds. A page may show a secret, which stays no longer. */
const REMEMBERED_MS = 10 * 60_000;
/** Maximum size of a form whose page is remembered, in bytes. The page may hold the whole of it. */
const MAX_FORM_BYTES = 16 * 1024;

type Sent = {
  /** Session and key of the form. */
  session: string;
  once: string;
  formBytes: number;
};

/** Runs an action unless this form has run it already. A form that was refused can be sent again. */
type RunOnce = (form: Sent, run: () => Promise<Answer>) => Promise<Answer>;

/** Returns a function that has run nothing yet. */
export function createRunOnce({ after }: Pick<Clock, 'after'>): RunOnce {
  const sessions = createLru<string, ReturnType<typeof createAnswers>>(MAX_SESSIONS);
  return async ({ session, once, formBytes }, run) => {
    const answers = sessions.get(session) ?? createAnswers();
    sessions.set(session, answers);
    const known = answers.get(once);
    if (known) return known;
    const answering = run();
    answers.set(once, answering);
    const forget = () => {
      if (answers.get(once) === answering) answers.delete(once);
    };
    try {
      const answer = await answering;
      if (isSmall(answer, formBytes)) after(REMEMBERED_MS, forget);
      else forget();
      return answer;
    } catch (error) {
      forget();
      throw error;
    }
  };
}

function createAnswers() {
  return createLru<string, Promise<Answer>>(MAX_FORMS);
}

/** Files are large, and whoever asks twice gets them twice. */
function isSmall(answer: Answer, formBytes: number): boolean {
  if ('file' in answer || 'frame' in answer) return false;
  return 'to' in answer || formBytes <= MAX_FORM_BYTES;
}
