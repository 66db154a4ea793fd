/** The broadcast that every row sends: 20 KiB of HTML with 20 links, and values of the reader. */
import { type Email, sampleEmail } from '../message.ts';

const HTML_BYTES = 20 * 1024;
const LARGE_HTML_BYTES = 234 * 1024;
const LINKS = 20;
const SENTENCE = 'What we have made for you this week, and what comes next. ';

const BEGIN = '<!doctype html><html><body><h1>Hello {{firstName|friend}}</h1>\n';
const END = '<p>{{lastName}}</p><a href="{{{unsubscribe_url}}}">Unsubscribe</a></body></html>\n';
const links = Array.from(
  { length: LINKS },
  (_, index) =>
    `<p><a href="https://shop.example/articles/${index}?campaign=spring&amp;n=${index}">Read on</a></p>\n`,
).join('');

export const BROADCAST_HTML = htmlOf(HTML_BYTES);
/** Nearly as large as a copy may be. */
export const LARGE_BROADCAST_HTML = htmlOf(LARGE_HTML_BYTES);
export const LARGE_BROADCAST_TEXT = 'News. {{{unsubscribe_url}}}';
export const BROADCAST_SUBJECT = 'News for {{firstName|friend}}';

function htmlOf(bytes: number): string {
  return `${BEGIN}${links}${paragraphs(bytes - BEGIN.length - links.length - END.length)}${END}`;
}

/** Lines of about a hundred characters, as a program that makes newsletters writes them. */
function paragraphs(bytes: number): string {
  const line = `<p>${SENTENCE.repeat(2).trimEnd()}</p>\n`;
  return line.repeat(Math.ceil(bytes / line.length)).slice(0, bytes);
}

/** The email of the bare path: it is as large as a copy with its text, and needs neither merging nor encoding. */
export function emailOfCopySize(): Email {
  const text = BROADCAST_HTML.replace(/<[^>]+>/g, '');
  return { ...sampleEmail(), html: BROADCAST_HTML, text };
}
