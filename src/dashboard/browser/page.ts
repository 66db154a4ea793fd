/**
 * Script of every page, for browsers with JavaScript: it copies texts, sends forms, follows with previews, and opens the search with Ctrl+K.
 * The program works without it.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { SAID } from '../field-names.ts';
import { prepareEach } from './content.ts';
import { prepareCopying } from './copy.ts';
import { prepareDrafts } from './drafts.ts';
import { followWithPreview } from './preview.ts';
import { sendForms } from './send-form.ts';
import { watchSwaps } from './swaps.ts';

prepareEach(prepareCopying);
prepareEach(prepareDrafts);
prepareEach((part) => {
  for (const form of part.querySelectorAll('form')) followWithPreview(form);
});
sendForms();
watchSwaps();

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

// The refusal of a form, or what an action has done, is where reading goes on. What it has done is said once, also when the page is loaded again.
document.querySelector<HTMLElement>('.refused, .said')?.focus();
const address = new URL(location.href);
if (address.searchParams.has(SAID)) {
  address.searchParams.delete(SAID);
  history.replaceState(history.state, '', address);
}
