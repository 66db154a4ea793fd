/**
 * Script of every page, for browsers with JavaScript: it copies texts, sends no form twice, and opens the search with Ctrl+K. The program
 * works without it.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { followWithPreview } from './preview.ts';

for (const button of document.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', () => {
    const label = button.textContent;
    void navigator.clipboard.writeText(button.dataset['copy'] ?? '').then(() => {
      button.textContent = button.dataset['copied'] ?? label;
      setTimeout(() => {
        button.textContent = label;
      }, 2000);
    });
  });
}

// A second click on a button would send its form again. The server also recognises the second form by its key.
document.addEventListener('submit', ({ target, submitter }) => {
  if (!(target instanceof HTMLFormElement) || target.method !== 'post') return;
  // The answer to a preview is shown in a frame, and the form stays.
  if (submitter?.hasAttribute('formtarget')) return;
  setTimeout(() => {
    for (const button of target.querySelectorAll('button')) button.disabled = true;
  });
});

// A page that the back button shows again has its buttons enabled.
addEventListener('pageshow', () => {
  for (const button of document.querySelectorAll<HTMLButtonElement>('form button:disabled'))
    button.disabled = false;
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'k' || !(event.ctrlKey || event.metaKey)) return;
  const search = document.querySelector<HTMLInputElement>('#search');
  if (!search) return;
  event.preventDefault();
  search.focus();
});

// The refusal of a form, or what an action has done, is where reading goes on.
document.querySelector<HTMLElement>('.refused, .said')?.focus();

for (const form of document.querySelectorAll('form')) followWithPreview(form);
