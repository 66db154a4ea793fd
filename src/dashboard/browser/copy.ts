/** Buttons that copy a text, such as a DNS record. They are hidden without this script. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** Time for which a button says that it has copied. */
const COPIED_MS = 2_000;

/** Shows the buttons of a part of the page that copy. */
export function prepareCopying(part: ParentNode): void {
  for (const button of part.querySelectorAll<HTMLButtonElement>('button[data-copy][hidden]')) {
    button.hidden = false;
    button.addEventListener('click', () => {
      const label = button.textContent;
      void navigator.clipboard.writeText(button.dataset['copy'] ?? '').then(() => {
        button.textContent = button.dataset['copied'] ?? label;
        setTimeout(() => {
          button.textContent = label;
        }, COPIED_MS);
      });
    });
  }
}
