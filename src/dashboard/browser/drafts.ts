/**
 * Keeps what somebody enters, in pauses and when the page is left: the form is sent to the action that keeps it as a draft. Only forms that are
 * marked do so. Without this script, a form is kept when it is sent after the session has ended.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { ACTION_FIELD, KEEP_ACTION } from '../field-names.ts';

/** Time after the last key before a draft is kept. */
const PAUSE_MS = 2_000;

type Entry = { pause: ReturnType<typeof setTimeout> | undefined; sending: Promise<unknown> };

/** Forms in which something was entered that is not kept yet, or is being kept. */
const entries = new Map<HTMLFormElement, Entry>();

/** Keeps drafts of the forms of a part of the page. */
export function prepareDrafts(part: ParentNode): void {
  for (const form of part.querySelectorAll<HTMLFormElement>('form[data-draft]'))
    form.addEventListener('input', () => {
      const entry = entries.get(form) ?? { pause: undefined, sending: Promise.resolve() };
      clearTimeout(entry.pause);
      entry.pause = setTimeout(() => keep(form, entry), PAUSE_MS);
      entries.set(form, entry);
    });
}

function keep(form: HTMLFormElement, entry: Entry): void {
  clearTimeout(entry.pause);
  entry.pause = undefined;
  const data = new FormData(form);
  data.append(ACTION_FIELD, KEEP_ACTION);
  const fields = [...data].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []));
  // An answer that leads to the page to log in is not followed. A draft that cannot be kept stays in the form.
  entry.sending = fetch(form.getAttribute('action') ?? location.href, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(fields),
  }).catch(() => {});
}

/** Keeps everything that is not kept yet, and resolves when that is done. */
export async function keepDrafts(): Promise<void> {
  for (const [form, entry] of entries) if (entry.pause !== undefined) keep(form, entry);
  await Promise.all([...entries.values()].map(({ sending }) => sending));
}

/** Waits until a form is kept no more, because it is sent: a draft must not be kept behind it. */
export async function endDraft(form: HTMLFormElement): Promise<void> {
  const entry = entries.get(form);
  clearTimeout(entry?.pause);
  await entry?.sending;
  entries.delete(form);
}

addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') void keepDrafts();
});
