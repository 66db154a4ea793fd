/**
 * Loads a page again when the program has another version than the one that made it. What somebody has entered is never lost by that: then the
 * page says what has happened, and waits.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

import { content, isOtherVersion } from './content.ts';
import { keepDrafts } from './drafts.ts';

/** Looks at the version that an answer or a stream names. */
export function followVersion(version: string | null): void {
  if (!isOtherVersion(version) || document.querySelector('#outdated')) return;
  if (hasEntries()) askToReload();
  else void keepDrafts().then(() => location.reload());
}

/** Returns true when a field has another value than the one with which the page came. */
function hasEntries(): boolean {
  const fields = document.querySelectorAll(
    'form[method="post"]:not([data-draft]) :is(input:not([type="hidden"]), textarea, select)',
  );
  return [...fields].some((field) => {
    if (field instanceof HTMLSelectElement) return [...field.options].some(isChosenNow);
    if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
    if (!(field instanceof HTMLInputElement)) return false;
    return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
  });
}

/** The first option of a choice is chosen when none is marked as such. */
function isChosenNow(option: HTMLOptionElement, index: number, options: HTMLOptionElement[]): boolean {
  const isMarked = options.some(({ defaultSelected }) => defaultSelected);
  return option.selected && !(isMarked ? option.defaultSelected : index === 0);
}

function askToReload(): void {
  const notice = document.createElement('p');
  notice.id = 'outdated';
  notice.className = 'notice';
  notice.role = 'status';
  notice.textContent = `${content().dataset['outdated']} `;
  const link = document.createElement('a');
  link.href = location.href;
  link.textContent = content().dataset['reload'] ?? '';
  notice.append(link);
  content().prepend(notice);
}
