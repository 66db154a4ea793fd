/**
 * Runs the action of a form once, also when a double click sends the form twice, and also when the daemon has restarted in between. A row is there
 * before the action and gets its answer afterwards. The second form gets the answer of the first: the same redirect, or the same page while this
 * process remembers it. Otherwise it is refused with the reason, because nobody knows better than the reader whether it is to run again.
 */
import { createHash } from 'node:crypto';
import type { App } from '../../app.ts';
import type { SentFormRow, SessionRow } from '../../db/people-tables.ts';
import type { Form } from '../../http/pages/form-body.ts';
import { AppError } from '../../system/errors.ts';
import { newId } from '../../system/ids.ts';
import { createLru } from '../../system/lru.ts';
import { ONCE_FIELD } from '../field-names.ts';
import type { Answer } from '../page.ts';
import { beginForm, completeForm, forgetForm } from './store.ts';

/** Maximum number of sessions whose pages are remembered, and of pages of each of them, so that nobody pushes out the pages of others. */
const MAX_SESSIONS = 1_000;
const MAX_PAGES = 4;
/** Time for which a page is remembered, in milliseconds. It may show a secret, which stays no longer and never reaches the disk. */
const REMEMBERED_MS = 10 * 60_000;
/** Maximum size of a form whose page is remembered, in bytes. The page may hold the whole of it. */
const MAX_FORM_BYTES = 16 * 1024;
/** Maximum length of a redirect that is stored. */
const MAX_REDIRECT_CHARACTERS = 4_000;

type Sent = {
  session: Pick<SessionRow, 'id' | 'personId' | 'mailboxId'>;
  /** Identity of the form, which `onceOf` returns. */
  once: string;
  formBytes: number;
};

/** Runs an action unless this form has run it already. A form that was refused can be sent again. */
type RunOnce = (form: Sent, run: () => Promise<Answer>) => Promise<Answer>;

/**
 * Returns the identity of a form that was sent, in hex; '' for one without a key. The same form with other values is another one: the back button
 * shows a form with its key again. Files count by their names and sizes, because hashing them would block the event loop.
 */
export function onceOf(form: Form, address: string): string {
  const [key = ''] = form.values(ONCE_FIELD);
  if (key === '') return '';
  const fields = form.names.map((name) => [name, ...form.values(name)]);
  const files = form.files.map(({ field, name, bytes }) => [field, name, bytes.length]);
  return hashOf([address, fields, files]);
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}

/** Returns a function that remembers what has run in this installation. */
export function createRunOnce(app: Pick<App, 'clock' | 'db' | 'log'>): RunOnce {
  const { clock, db } = app;
  /** Each request holds one form, so that the number of connections bounds those that run. */
  const running = new Map<string, Promise<Answer>>();
  const pages = createPages(app);

  return async (form, run) => {
    const { session, once } = form;
    const { personId, mailboxId } = session;
    const hash = hashOf([personId, mailboxId, once]);
    const known = running.get(hash) ?? pages.find(session, hash);
    if (known) return known;
    const answering = runStored(hash, form, run).finally(() => running.delete(hash));
    running.set(hash, answering);
    return answering;
  };

  async function runStored(
    hash: string,
    { session, formBytes }: Sent,
    run: () => Promise<Answer>,
  ): Promise<Answer> {
    const { personId, mailboxId } = session;
    const id = newId('frm', clock.now());
    const earlier = await db.commit(beginForm, { id, hash, personId, mailboxId });
    if (earlier) return answerAgain(earlier);
    try {
      const answer = await run();
      // Whoever asks twice for a file gets it twice.
      if ('file' in answer || 'frame' in answer) await settle(id, undefined);
      else await settle(id, storedOf(answer));
      if (!('to' in answer) && formBytes <= MAX_FORM_BYTES) pages.keep(session, hash, answer);
      return answer;
    } catch (error) {
      await settle(id, undefined);
      throw error;
    }
  }

  /** The action has ended by then, so that a failure here is none of the action. */
  async function settle(id: SentFormRow['id'], answer: string | undefined): Promise<void> {
    try {
      if (answer === undefined) await db.commit(forgetForm, { id });
      else await db.commit(completeForm, { id, answer });
    } catch (error) {
      app.log.error({ err: error, id }, 'the answer of a form could not be stored');
    }
  }
}

/** Remembers the pages that forms were answered with. */
function createPages({ clock }: Pick<App, 'clock'>) {
  const sessions = createLru<string, ReturnType<typeof newPages>>(MAX_SESSIONS);
  const newPages = () => createLru<string, Answer>(MAX_PAGES);
  return {
    find: ({ id }: Sent['session'], hash: string) => sessions.get(id)?.get(hash),
    keep({ id }: Sent['session'], hash: string, answer: Answer): void {
      if ('file' in answer || 'frame' in answer) return;
      const own = sessions.get(id) ?? newPages();
      sessions.set(id, own);
      own.set(hash, answer);
      clock.after(REMEMBERED_MS, () => own.delete(hash));
    },
  };
}

/** Returns what is stored of an answer: where it leads, or, for a page, that it was there. */
function storedOf(answer: Answer): string {
  if (!('to' in answer) || answer.to.length > MAX_REDIRECT_CHARACTERS) return '{}';
  const { to, said } = answer;
  return JSON.stringify({ to, said });
}

/**
 * Returns the answer of a form that was sent before.
 * @throws AppError invalid_state when it is not known, or when the daemon has ended while the form ran
 */
function answerAgain({ answer }: SentFormRow): Answer {
  if (answer === null)
    throw new AppError(
      'invalid_state',
      'This form was sent before, and how it ended is not known: check whether it has had its effect, and send it again if it has not',
    );
  const { to, said } = JSON.parse(answer) as Partial<Extract<Answer, { to: string }>>;
  if (to === undefined)
    throw new AppError(
      'invalid_state',
      'This form was sent before, and has had its effect; what it showed is not shown again',
    );
  return { to, ...(said !== undefined && { said }) };
}
