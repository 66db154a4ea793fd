/**
 * Previews that follow what somebody writes. A form with a preview has buttons that send it to a frame, which work without JavaScript; this
 * script presses the last one of them again after each pause.
 */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** Time after the last key before the preview is asked for. */
const PAUSE_MS = 600;

/** Makes the preview of a form follow its fields. A form without a preview stays as it is. */
export function followWithPreview(form: HTMLFormElement): void {
  let button = form.querySelector<HTMLButtonElement>('button[formtarget]');
  if (!button) return;
  let pause: ReturnType<typeof setTimeout> | undefined;
  form.addEventListener('submit', ({ submitter }) => {
    clearTimeout(pause);
    if (!(submitter instanceof HTMLButtonElement) || !submitter.hasAttribute('formtarget')) return;
    button = submitter;
    const target = renewFrame(submitter.formTarget);
    for (const other of form.querySelectorAll<HTMLButtonElement>('button[formtarget]'))
      other.formTarget = target;
  });
  form.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(() => form.requestSubmit(button), PAUSE_MS);
  });
}

/**
 * Replaces a frame by a new one, which is shown once it has loaded. The history of the browser keeps nothing of a frame that is gone, so the
 * back button leads to the page before, and not through the previews. A frame keeps its name as long as it lives, so the new one has another.
 * Returns that name.
 */
function renewFrame(name: string): string {
  const before = document.querySelector<HTMLIFrameElement>(`iframe[name="${CSS.escape(name)}"]`);
  if (!before) return name;
  const next = before.cloneNode() as HTMLIFrameElement;
  next.removeAttribute('src');
  next.hidden = true;
  next.name = `preview-${++renewed}`;
  before.after(next);
  next.addEventListener('load', () => {
    next.hidden = false;
    before.remove();
  });
  return next.name;
}

/** Number of frames that were renewed so far. */
let renewed = 0;
