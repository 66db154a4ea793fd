/**
 * Resend's preview text of a broadcast: what mail programs show beside the subject. Here it is the first element of the HTML, which is
 * not displayed, and so it needs no field of its own.
 */
import { decodeHTML } from 'entities/decode';
import { escapeText } from 'entities/escape';

const START = '<div data-preview-text style="display:none;max-height:0;overflow:hidden">';
const END = '</div>';
const BODY = /<body[\s>]/i;

type Content = { html: string; previewText: string | null };

/** Returns the HTML with the preview text at the start of its body. */
export function withPreviewText({ html, previewText }: Content): string {
  if (previewText === null || previewText === '') return html;
  const at = startOfBody(html);
  return `${html.slice(0, at)}${START}${escapeText(previewText)}${END}${html.slice(at)}`;
}

/** Takes the HTML apart, as `withPreviewText` has put it together. */
export function splitPreviewText(html: string): Content {
  const from = html.indexOf(START);
  const to = from < 0 ? -1 : html.indexOf(END, from);
  if (to < 0) return { html, previewText: null };
  return {
    html: html.slice(0, from) + html.slice(to + END.length),
    previewText: decodeHTML(html.slice(from + START.length, to)),
  };
}

/** Returns the position after the tag that opens the body, or 0 in HTML without one. */
function startOfBody(html: string): number {
  const tag = html.search(BODY);
  return tag < 0 ? 0 : html.indexOf('>', tag) + 1;
}
