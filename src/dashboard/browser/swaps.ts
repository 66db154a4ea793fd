/** Says failures of the parts of a page that htmx asks for, and keeps the focus when such a part is replaced. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
import { VERSION_HEADER } from '../version-header.ts';
import { content, prepareNew, say, unsay } from './content.ts';
import { followVersion } from './version.ts';

type Detail = {
  ctx: { sourceElement: Element | undefined; text?: string; response?: { status: number; headers: Headers } };
};

/** Watches all requests of htmx. */
export function watchSwaps(): void {
  document.addEventListener('htmx:before:swap', (event) => {
    const { sourceElement } = (event as CustomEvent<Detail>).detail.ctx;
    if (sourceElement?.matches('[data-refreshed]') && isInUse(sourceElement)) event.preventDefault();
  });
  on('htmx:response:error', ({ sourceElement, text = '' }) => {
    const reason = new DOMParser().parseFromString(text, 'text/html').querySelector('.failure')?.textContent;
    if (sourceElement) say(sourceElement, reason ?? content().dataset['broken']);
  });
  on('htmx:error', ({ sourceElement }) => {
    if (sourceElement) say(sourceElement, content().dataset['offline']);
  });
  on('htmx:after:request', ({ response }) => followVersion(response?.headers.get(VERSION_HEADER) ?? null));
  on('htmx:before:swap', ({ sourceElement, response }) => {
    // htmx says so also before it leaves out the answer of a failure.
    if (sourceElement && response && response.status < 400) unsay(sourceElement);
  });
  on('htmx:after:swap', ({ sourceElement }) => {
    if (sourceElement) prepareNew(sourceElement);
    // The element that had the focus is gone: reading goes on with the content of the page.
    if (document.activeElement === document.body) content().focus({ preventScroll: true });
  });
}

/** Returns true for a part in which somebody has opened something, or has the focus. It is replaced later. */
function isInUse(part: Element): boolean {
  return part.querySelector('details[open], :focus') !== null;
}

function on(name: string, run: (context: Detail['ctx']) => void): void {
  document.addEventListener(name, (event) => run((event as CustomEvent<Detail>).detail.ctx));
}
