/** The content of a page, which scripts replace, and the messages that they show in it. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** Returns the element with the content of the page. Its data has the messages of scripts in the language of the page. */
export function content(): HTMLElement {
  return document.querySelector<HTMLElement>('#content') ?? document.body;
}

/** Returns the version of the program that has made the page. */
export function pageVersion(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="version"]')?.content ?? '';
}

/** Returns true for a version that an answer names, and that is another one than that of the page. */
export function isOtherVersion(version: string | null): boolean {
  return version !== null && version !== pageVersion();
}

declare const htmx: { process(element: Element): void };

/** Called with each part of the page that a script has put there. */
type Prepare = (part: ParentNode) => void;
const preparations: Prepare[] = [];

/** Runs `prepare` for the page as it is, and for each part that replaces another one later. */
export function prepareEach(prepare: Prepare): void {
  preparations.push(prepare);
  prepare(document);
}

/** Prepares a new part of the page. */
export function prepareNew(part: ParentNode): void {
  for (const prepare of preparations) prepare(part);
}

/** Shows the content of an answer in the place of the present one. Reading goes on where the answer says something. */
export function showContent(answer: Document): void {
  const next = answer.querySelector<HTMLElement>('#content');
  if (!next) return;
  content().replaceWith(next);
  document.title = answer.title;
  htmx.process(next);
  prepareNew(next);
  (next.querySelector<HTMLElement>('.refused, .said') ?? next).focus();
  dispatchEvent(new Event('content'));
}

type Saying = {
  /** True for the answer to a button, after which the message is where reading goes on. */
  takesFocus?: boolean;
  /** True when only loading the page again helps. */
  offersReload?: boolean;
};

/** Shows a message beside the buttons of a form, or behind another element, in the place of the one before. */
export function say(
  at: Element,
  text: string | undefined,
  { takesFocus = false, offersReload = false }: Saying = {},
): void {
  unsay(at);
  const message = document.createElement('div');
  message.className = 'refused failed';
  message.role = 'alert';
  message.tabIndex = -1;
  message.textContent = text ?? '';
  if (offersReload) {
    const link = document.createElement('a');
    link.href = location.href;
    link.textContent = content().dataset['reload'] ?? '';
    message.append(' ', link);
  }
  const buttons = at.querySelector(':scope > .buttons');
  if (buttons) buttons.before(message);
  else if (at instanceof HTMLFormElement) at.append(message);
  else at.after(message);
  if (takesFocus) message.focus();
}

/** Removes the message at an element. */
export function unsay(at: Element): void {
  const behind = at.nextElementSibling;
  for (const message of [at.querySelector(':scope > .failed'), behind])
    if (message?.matches('.failed')) message.remove();
}
