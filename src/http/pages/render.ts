/**
 * HTML pages are JSX components: their properties are checked by the compiler, and every text that is inserted into them
 * is escaped. They are rendered on the server alone.
 */
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';

/**
 * Returns the HTML of a whole page, whose root is the `html` element. HTML has no NUL, which texts of strangers may have: browsers would leave
 * it out in some places, and so read another text than it is.
 */
export function renderPage(page: VNode): string {
  return `<!doctype html>\n${renderToString(page).replaceAll('\0', '\uFFFD')}\n`;
}
