/**
 * Collects the text in which SEARCH looks (RFC 9051 section 6.4.4): decoded, without the markup of HTML, and folded, so that a search is
 * a search for a substring.
 */
import { decodeWords } from './decode-words.ts';
import { foldText } from './fold.ts';
import { type HeaderField, readFields } from './header-block.ts';
import { stripHtml } from './html-text-strip.ts';
import type { MimeEntity } from './mime-tree.ts';
import { decodePartText } from './part-text.ts';
import type { FieldTexts } from './search-fields.ts';

export type SearchText = {
  /** A line for each field of the message: its name, `: ` and its value. */
  header: string;
  /** Headers of parts and the text of parts. */
  body: string;
  /** False when text beyond `MAX_SEARCH_CHARACTERS` was left out, so that a search must read the message. */
  isComplete: boolean;
  /** Header fields in which people search most. Without them, a search reads the header. */
  fields?: FieldTexts | undefined;
};

/** Maximum length of the header and of the body, each: 1 MiB in ASCII. The text of nearly all mail is shorter. */
export const MAX_SEARCH_CHARACTERS = 1024 * 1024;
/**
 * Size of the largest part that is decoded, in octets for each character of text. Markup and encoding may make a part several times as
 * long as its text.
 */
const MARKUP_FACTOR = 4;

/** The text of a message, and the first one that a reader sees, as it is. */
type MessageText = { search: SearchText; visible: string };

/**
 * Returns the text of a message.
 * @param maxCharacters maximum length of the header and of the body, each
 */
export async function readText(
  octets: Buffer,
  root: MimeEntity,
  maxCharacters = MAX_SEARCH_CHARACTERS,
): Promise<MessageText> {
  const header = foldText(headerText(root.fields));
  const collected = new Collected(maxCharacters);
  for (const part of enumerateParts(root)) {
    if (!collected.hasCapacity) break;
    if (part !== root) collected.add(headerText(part.fields) + parameterText(part));
    if (!isText(part)) continue;
    const { end, isCut } = cutPart(part, MARKUP_FACTOR * maxCharacters);
    const text = await textOf(octets.subarray(part.body, end), part);
    collected.add(text, isCut);
    if (!isAttachment(part)) collected.visible ||= text.trim();
  }
  const body = foldText(collected.text);
  const isComplete = collected.isComplete && Math.max(header.length, body.length) <= maxCharacters;
  const cut = (text: string) => text.slice(0, maxCharacters).toWellFormed();
  const search = { header: cut(header), body: cut(body), isComplete };
  return { search, visible: collected.visible };
}

/** Returns the folded text of header fields, as `readText` returns that of a message. */
export function readHeaderText(header: Uint8Array): string {
  const octets = Buffer.from(header.buffer, header.byteOffset, header.byteLength);
  return foldText(headerText(readFields(octets, { start: 0, end: octets.length })));
}

/** Text of parts, up to a limit. */
class Collected {
  readonly #maxCharacters: number;
  readonly #texts: string[] = [];
  #characters = 0;
  isComplete = true;
  visible = '';

  constructor(maxCharacters: number) {
    this.#maxCharacters = maxCharacters;
  }

  get hasCapacity(): boolean {
    if (this.#characters <= this.#maxCharacters) return true;
    this.isComplete = false;
    return false;
  }

  get text(): string {
    return this.#texts.join('\n');
  }

  add(text: string, isCut = false): void {
    if (isCut) this.isComplete = false;
    if (text === '') return;
    this.#texts.push(text);
    this.#characters += text.length;
  }
}

/** Yields an entity and all that is inside, in order. */
function* enumerateParts(entity: MimeEntity): Generator<MimeEntity> {
  yield entity;
  for (const part of entity.parts) yield* enumerateParts(part);
  if (entity.message) yield* enumerateParts(entity.message);
}

function headerText(fields: readonly HeaderField[]): string {
  return fields.map(({ name, value }) => `${name}: ${decodeWords(value)}\n`).join('');
}

/** Values that have another form in the header (RFC 2231), such as names of files. */
function parameterText({ parameters, disposition }: MimeEntity): string {
  return [...parameters, ...(disposition?.parameters ?? [])]
    .filter(({ isExtended }) => isExtended)
    .map(({ value }) => `${value}\n`)
    .join('');
}

/** Reports about mail and the headers of returned messages are text too. */
function isText({ type, parts, message }: MimeEntity): boolean {
  return parts.length === 0 && !message && (type === 'text' || type === 'message');
}

function isAttachment({ disposition, type }: MimeEntity): boolean {
  return type !== 'text' || disposition?.value === 'attachment';
}

function cutPart({ body, end }: MimeEntity, maxOctets: number): { end: number; isCut: boolean } {
  return { end: Math.min(end, body + maxOctets), isCut: end > body + maxOctets };
}

/** A part with an unknown encoding has no text (RFC 2045 section 6.4). */
async function textOf(octets: Buffer, part: MimeEntity): Promise<string> {
  const text = decodePartText(octets, part) ?? '';
  return part.subtype === 'html' ? stripHtml(text, { isDecorated: false }) : text;
}
