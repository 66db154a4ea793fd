/**
 * Sends forms without leaving the page, so that a failure is said beside the button while what was entered stays: a server that cannot be
 * reached, one that fails, or one of another version. Without this script the browser sends the same forms.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { VERSION_HEADER } from '../version-header.ts';
import { content, isOtherVersion, pageVersion, say, showContent } from './content.ts';
import { endDraft } from './drafts.ts';

/** Sends every form of the page, now and after its content has changed, but previews, whose answer is shown in a frame. */
export function sendForms(): void {
  document.addEventListener('submit', (event) => {
    const { target: form, submitter, defaultPrevented } = event;
    if (defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== 'post') return;
    if (submitter?.hasAttribute('formtarget')) return;
    event.preventDefault();
    void send(form, submitter);
  });
}

async function send(form: HTMLFormElement, submitter: HTMLElement | null): Promise<void> {
  const data = new FormData(form, submitter);
  // A second click would send the form again. The server also recognises the second form by its key.
  const buttons = [...form.querySelectorAll('button')].filter(({ disabled }) => !disabled);
  for (const button of buttons) button.disabled = true;
  await endDraft(form);
  const hasLeft = await post(form, data).catch(() => {
    say(form, content().dataset['offline'], { takesFocus: true });
    return false;
  });
  if (hasLeft) return;
  for (const button of buttons) button.disabled = false;
}

/** Sends a form and shows the answer. Returns true when it leads to another page. */
async function post(form: HTMLFormElement, data: FormData): Promise<boolean> {
  // A field of the form may be named "action", so that the property is not its address.
  const address = form.getAttribute('action') ?? location.href;
  const hasFiles = form.enctype === 'multipart/form-data';
  const response = await fetch(address, {
    method: 'POST',
    headers: { [VERSION_HEADER]: pageVersion() },
    body: hasFiles ? data : new URLSearchParams([...data].map(([name, value]) => [name, String(value)])),
  });
  const version = response.headers.get(VERSION_HEADER);
  const to = response.headers.get('location');
  if (response.status === 204 && to !== null) {
    leaveFor(to);
    return true;
  }
  const answer = new DOMParser().parseFromString(await response.text(), 'text/html');
  const reason = answer.querySelector('.failure')?.textContent;
  const isPage = answer.querySelector('#content') !== null && reason === undefined;
  if (isPage) showContent(answer);
  else {
    say(form, reason ?? content().dataset['broken'], {
      takesFocus: true,
      offersReload: isOtherVersion(version),
    });
  }
  return false;
}

/** Opens a page, also when it is this one. */
function leaveFor(to: string): void {
  const target = new URL(to, location.href);
  const isHere = target.hash !== '' && target.href.split('#')[0] === location.href.split('#')[0];
  location.assign(target);
  if (isHere) location.reload();
}
