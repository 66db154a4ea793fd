/**
 * Decides which parts of a message are files, and reads their names, their sizes, and the bytes of those that are wanted. The text that the
 * message shows is plain text or HTML; all other parts are files, also a message within the message.
 */
import { lookup } from 'mime-types';
import { decodeWords } from '../decode-words.ts';
import { cleanFilename } from '../filename.ts';
import { findValue } from '../header-block.ts';
import type { MimeParameter } from '../mime-fields.ts';
import type { MimeEntity } from '../mime-tree.ts';
import { parameterOf } from '../part-text.ts';
import { isTnef, readTnef } from '../tnef/read-tnef.ts';
import { decodeTransfer } from '../transfer-encoding.ts';

/** The files whose bytes are wanted: one of them by its number, or the first ones up to a number of bytes. */
export type WantedContent = { file: number } | { upToBytes: number };

export type ParsedFile = {
  /** Last part of the name that the sender gave it, without deceptive characters; at most 255 bytes. */
  filename: string;
  contentType: string;
  sizeBytes: number;
  /** Content-ID without angle brackets, by which the HTML names it (RFC 2392); null when it has none. */
  contentId: string | null;
  disposition: 'attachment' | 'inline';
  /** The decoded bytes, when they are wanted. */
  content: Uint8Array | null;
};

/** Files, and the texts of a message that were packed into one of them. */
type MessageFiles = { files: ParsedFile[]; packed: { text: string; html: string } };

/** A file with its bytes. An empty name is that of a file without one. */
type WholeFile = Pick<ParsedFile, 'contentType' | 'contentId' | 'disposition'> & {
  name: string;
  bytes: Buffer;
};

/** Returns the files of a message in their order. A file of Outlook that contains others (TNEF) is replaced by them. */
export function readFiles(octets: Buffer, root: MessagePart, content: WantedContent): MessageFiles {
  const packed = { text: '', html: '' };
  const files: ParsedFile[] = [];
  const wanted = new WantedFiles(content);
  for (const entity of enumerateFiles(root)) {
    for (const file of unpack(readFile(octets, entity), packed)) {
      const number = files.length + 1;
      const { name, bytes, contentType, contentId, disposition } = file;
      const isWanted = wanted.takes(number, bytes.length);
      files.push({
        filename: name === '' ? `attachment-${number}` : cleanFilename(name),
        contentType: typeOf(contentType, name),
        sizeBytes: bytes.length,
        contentId,
        disposition,
        // The memory of the message is shared, and all of it would be copied with the result.
        content: isWanted ? new Uint8Array(bytes) : null,
      });
    }
  }
  return { files, packed };
}

/** Returns a file, or the files in it; the first texts in it are kept. */
function unpack(file: WholeFile, packed: MessageFiles['packed']): readonly WholeFile[] {
  const content = isTnef(file) ? readTnef(file.bytes) : undefined;
  if (!content) return [file];
  packed.text ||= content.text;
  packed.html ||= content.html;
  const isUnpacked = content.files.length > 0 || content.text !== '' || content.html !== '';
  return isUnpacked ? content.files : [file];
}

function* enumerateFiles(part: MessagePart): Generator<MimeEntity> {
  if (part.kind === 'file') yield part.entity;
  else if (part.kind === 'container') for (const inner of part.parts) yield* enumerateFiles(inner);
}

/** Decodes a file. One with an unknown encoding stays as it was transferred (RFC 2045 section 6.4). */
function readFile(octets: Buffer, entity: MimeEntity): WholeFile {
  const { type, subtype, body, end, encoding, fields, disposition } = entity;
  const encoded = octets.subarray(body, end);
  const contentId = (findValue(fields, 'content-id') ?? '').replace(/^\s*<|>\s*$/g, '').trim();
  return {
    name: nameOf(entity),
    contentType: `${type}/${subtype}`,
    contentId: contentId === '' ? null : contentId,
    disposition: disposition?.value === 'inline' ? 'inline' : 'attachment',
    bytes: decodeTransfer(encoded, encoding) ?? encoded,
  };
}

/** Returns the type of a file. Programs that do not know it send octets, and the name may tell more. */
function typeOf(type: string, name: string): string {
  return (type === 'application/octet-stream' && lookup(name)) || type;
}

/** Returns the name of a file; an empty text when it has none. Encoded-words are not allowed in parameters, but common. */
function nameOf({ parameters, disposition }: MimeEntity): string {
  const name = findParameter(disposition?.parameters ?? [], 'filename') ?? findParameter(parameters, 'name');
  return name === undefined ? '' : name.isExtended ? name.value : decodeWords(name.value);
}

/** Returns a parameter. The form that has a charset counts when both forms stand there, because it can say more. */
function findParameter(parameters: readonly MimeParameter[], name: string): MimeParameter | undefined {
  const named = parameters.filter((parameter) => parameter.name === name && parameter.value !== '');
  return named.find(({ isExtended }) => isExtended) ?? named[0];
}

/** Decides which files are wanted, in their order. Wanted files count towards the limit. */
class WantedFiles {
  readonly #content: WantedContent;
  #takenBytes = 0;

  constructor(content: WantedContent) {
    this.#content = content;
  }

  takes(number: number, sizeBytes: number): boolean {
    const content = this.#content;
    if ('file' in content) return number === content.file;
    if (this.#takenBytes + sizeBytes > content.upToBytes) return false;
    this.#takenBytes += sizeBytes;
    return true;
  }
}

export type MessagePart =
  | { kind: 'text'; entity: MimeEntity }
  | { kind: 'file'; entity: MimeEntity }
  /** Parts in their order; an alternative has forms of one text (RFC 2046 section 5.1.4). */
  | { kind: 'container'; isAlternative: boolean; parts: readonly MessagePart[] };

/** The place of a part among others. */
type Place = {
  /** True for the message itself, a form of an alternative, and the root of a multipart/related, which are texts whatever their names are. */
  isBody: boolean;
};

/** Returns the parts of a message as its reader sees them. */
export function readParts(root: MimeEntity): MessagePart {
  return new PartReader().read(root, { isBody: true });
}

class PartReader {
  #hasText = false;

  read(entity: MimeEntity, place: Place): MessagePart {
    const { subtype, parts } = entity;
    if (parts.length > 0) {
      const isAlternative = subtype === 'alternative';
      const isBody = (index: number) => isAlternative || (subtype === 'related' && index === 0);
      const read = parts.map((part, index) => this.read(part, { isBody: isBody(index) }));
      return { kind: 'container', isAlternative, parts: isAlternative ? formsOf(read) : read };
    }
    const isText = this.#isText(entity, place);
    this.#hasText ||= isText;
    return { kind: isText ? 'text' : 'file', entity };
  }

  /** A text with a file name is a file, unless some programs also name what is the text of the message. */
  #isText(entity: MimeEntity, { isBody }: Place): boolean {
    const { type, subtype, disposition } = entity;
    if (type !== 'text' || (subtype !== 'plain' && subtype !== 'html')) return false;
    if (disposition && disposition.value !== 'inline') return false;
    if (isBody) return true;
    const isNamed = parameterOf(entity, 'name') !== '';
    if (disposition) return !isNamed && parameterOf(disposition, 'filename') === '';
    return !isNamed || !this.#hasText;
  }
}

/**
 * Returns the forms of an alternative. Texts of one type are one form together: a program that puts several of them into an alternative
 * has chosen the wrong multipart, and a reader of one of them would miss the others.
 */
function formsOf(parts: readonly MessagePart[]): MessagePart[] {
  const forms = Map.groupBy(parts, (part) => (part.kind === 'text' ? part.entity.subtype : part));
  return [...forms.values()].flatMap((form) =>
    form.length === 1 ? form : { kind: 'container', isAlternative: false, parts: form },
  );
}
