/**
 * Script of pages that ask for passkeys. A form asks the authenticator when its button is pressed, and is then sent as every other form, with
 * the answer in a hidden field. The server decides.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { browserSupportsWebAuthn, startAuthentication, startRegistration } from '@simplewebauthn/browser';

/** Age of a page, in milliseconds, from which on its challenge may expire before it is answered. A challenge lives for five minutes. */
const MAX_PAGE_AGE_MS = 3 * 60_000;

const loadedAt = performance.now();

if (browserSupportsWebAuthn()) {
  for (const field of document.querySelectorAll<HTMLInputElement>('input[data-passkey]')) prepare(field);
}

function prepare(field: HTMLInputElement): void {
  const { form } = field;
  if (!form) return;
  form.closest<HTMLElement>('.passkey')?.removeAttribute('hidden');
  form.addEventListener('submit', (event) => {
    if (field.value !== '') return;
    event.preventDefault();
    // The script of every page would disable the buttons of a form that is sent.
    event.stopPropagation();
    void ask(form, field);
  });
  // A page that the back button shows again has a challenge that was used.
  addEventListener('pageshow', () => {
    field.value = '';
  });
}

async function ask(form: HTMLFormElement, field: HTMLInputElement): Promise<void> {
  const failed = form.querySelector<HTMLElement>('.passkey-failed');
  failed?.setAttribute('hidden', '');
  try {
    const optionsJSON = await optionsOf(field);
    const answer =
      'user' in optionsJSON
        ? await startRegistration({ optionsJSON })
        : await startAuthentication({ optionsJSON });
    field.value = JSON.stringify(answer);
  } catch {
    // The person has canceled, or has no passkey for this page. Browsers do not say which.
    failed?.removeAttribute('hidden');
    failed?.focus();
    return;
  }
  form.requestSubmit();
}

type Options = Parameters<typeof startRegistration>[0]['optionsJSON'] &
  Parameters<typeof startAuthentication>[0]['optionsJSON'];

/** Returns what the page asks for. A page that has been open for long is asked again, for a new challenge. */
async function optionsOf(field: HTMLInputElement): Promise<Options> {
  const text = field.dataset['options'] ?? '';
  if (performance.now() - loadedAt < MAX_PAGE_AGE_MS) return JSON.parse(text) as Options;
  const response = await fetch(location.href);
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const selector = `input[data-passkey="${field.dataset['passkey']}"]`;
  const found = page.querySelector<HTMLInputElement>(selector);
  return JSON.parse(found?.dataset['options'] ?? text) as Options;
}
