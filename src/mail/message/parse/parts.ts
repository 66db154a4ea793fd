/**
 * Decides what the parts of a message are to a reader: the text that the message shows, or files. The types of text are plain text and
 * HTML; all others are files, also a message within the message.
 */
import type { MimeEntity } from '../mime-tree.ts';
import { parameterOf } from '../part-text.ts';

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
