/**
 * Joins the texts of a message. A message may have its text in several parts, and each part as plain text, as HTML, or
 * as both (RFC 2046 section 5.1.4).
 */
import type { MimeEntity } from '../mime-tree.ts';
import type { MessagePart } from './parts.ts';

export type MessageTexts = {
  /** Empty when no part is plain text. */
  text: string;
  /** All parts, those of plain text included; empty when no part is HTML. */
  html: string;
  /** False when a part has HTML only, so that `text` does not contain its words. */
  isTextComplete: boolean;
};

type Passage = { plain: string } | { html: string };
type Passages = { text: string[]; shown: Passage[]; isTextComplete: boolean };

/** Returns the decoded text of a part. */
type Decode = (entity: MimeEntity) => string;

const NOTHING: Passages = { text: [], shown: [], isTextComplete: true };

/** Returns the texts of a message. */
export function joinTexts(root: MessagePart, decode: Decode): MessageTexts {
  const { text, shown, isTextComplete } = passagesOf(root, decode);
  const hasHtml = shown.some(isHtml);
  const html = hasHtml
    ? shown.map((passage) => (isHtml(passage) ? passage.html : toHtml(passage.plain)))
    : [];
  return { text: text.join('\n'), html: html.join('\n'), isTextComplete };
}

function passagesOf(part: MessagePart, decode: Decode): Passages {
  if (part.kind === 'file') return NOTHING;
  if (part.kind === 'text') {
    const content = decode(part.entity);
    // Some programs write a blank text beside the HTML, which says everything.
    if (content.trim() === '') return NOTHING;
    return part.entity.subtype === 'html'
      ? { text: [], shown: [{ html: content }], isTextComplete: false }
      : { text: [content], shown: [{ plain: content }], isTextComplete: true };
  }
  const parts = part.parts.map((inner) => passagesOf(inner, decode)).filter(({ shown }) => shown.length > 0);
  return part.isAlternative ? choose(parts) : join(parts);
}

/** Returns the plain form and the HTML form of an alternative. */
function choose(parts: readonly Passages[]): Passages {
  const plain = parts.find(({ isTextComplete }) => isTextComplete);
  // Forms are in the order of their richness, the richest one at the end (RFC 2046 section 5.1.4).
  const rich = parts.findLast(({ shown }) => shown.some(isHtml)) ?? plain;
  return {
    text: (plain ?? rich)?.text ?? [],
    shown: rich?.shown ?? [],
    isTextComplete: plain !== undefined || parts.length === 0,
  };
}

function join(parts: readonly Passages[]): Passages {
  return {
    text: parts.flatMap(({ text }) => text),
    shown: parts.flatMap(({ shown }) => shown),
    isTextComplete: parts.every(({ isTextComplete }) => isTextComplete),
  };
}

function isHtml(passage: Passage): passage is { html: string } {
  return 'html' in passage;
}

function toHtml(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return `<p>${escaped.replaceAll('\n', '<br>\n')}</p>`;
}
