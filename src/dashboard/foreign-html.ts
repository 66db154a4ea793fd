/** Takes from the HTML of strangers what no policy of content forbids. */

/** Matches the beginning of an element that can reach another host, as `<link rel="preconnect">` does, whatever the policy says. */
const REACHING = /<(?=(?:link|meta|base)[\s/>])/gi;

/**
 * Returns HTML without its elements `link`, `meta` and `base`. Each becomes an end tag without a beginning, which browsers leave out, and
 * nothing else changes: the text may be megabytes long, and need not be parsed.
 */
export function inertHtml(html: string): string {
  return html.replace(REACHING, '</');
}
