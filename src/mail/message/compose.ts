/**
 * Composes the body of a message (RFC 2045) from its texts and files, and the header fields that describe it. The same
 * input gives the same bytes, so that a resend is recognisable.
 */
import {
  chooseBoundary,
  type Entity,
  type LeafEntity,
  type Multipart,
  multipart,
  textEntity,
  wholeBody,
} from './entity.ts';
import type { FilePart } from './file-part.ts';

/**
 * Version of the bytes that this module and those below it write, of the fields that are added for a reader
 * (queue/contents/reader.ts), and of the values of placeholders (templates/render.ts). It must grow with every change of these bytes: a message that an earlier version signed is then
 * signed anew (queue/prepare.ts). Tests compare the bytes.
 */
export const COMPOSER_VERSION = 3;

export type Texts = {
  text: string | undefined;
  html: string | undefined;
  /** AMP for email, which is shown instead of the HTML by programs that know it. It stands only beside HTML. */
  amp?: string | undefined;
  /** Text from which the boundaries between the parts are derived. */
  boundarySeed: string;
};

/** A body in ASCII with CRLF line ends. No line exceeds 998 octets. */
type ComposedBody = {
  /** Header fields that describe the body, each with its CRLF. */
  fields: string;
  /**
   * The body in order. The empty piece `TEXTS_END` comes after the last text and before the first file. Each iteration
   * produces the pieces anew, so that a large attachment is never in memory twice.
   */
  pieces: Iterable<Buffer>;
};

/** Marks the end of the texts among the pieces of a body. Everything after it depends on the files and the boundaries. */
export const TEXTS_END = Buffer.alloc(0);

/** Composes a body. */
export function composeBody(texts: Texts, files: readonly FilePart[]): ComposedBody {
  const root = rootEntity(texts, files);
  return { fields: root.fields, pieces: { [Symbol.iterator]: () => wholeBody(root) } };
}

/** Nests the parts as readers expect: `mixed` around `alternative` around `related`. */
function rootEntity({ text, html, amp, boundarySeed }: Texts, files: readonly FilePart[]): Entity {
  const page = html === undefined ? undefined : withEndMark(textEntity('html', html));
  const only = (entity: LeafEntity) => (page ? entity : withEndMark(entity));
  const plain = text === undefined && page ? undefined : only(textEntity('plain', text ?? ''));
  const interactive = page && amp !== undefined ? textEntity('x-amp-html', amp) : undefined;
  const entitiesOf = (wanted: FilePart['placement']) =>
    files.filter(({ placement }) => placement === wanted).map(({ entity }) => entity);
  const [inline, calendars, others] = [
    entitiesOf('inline'),
    entitiesOf('calendar'),
    entitiesOf('attachment'),
  ];
  const texts = [plain, interactive, page].filter((part) => part !== undefined);
  const leaves = [...texts, ...inline, ...calendars, ...others];
  const nest = (subtype: Multipart['subtype'], parts: readonly Entity[], parameters: string[] = []) =>
    multipart(parts, { subtype, parameters, boundary: chooseBoundary(`${subtype}:${boundarySeed}`, leaves) });

  // The type of a related part is that of its first part, which the others belong to (RFC 2387 section 3.1).
  const shown = page && inline.length > 0 ? nest('related', [page, ...inline], ['type="text/html"']) : page;
  // The plainest form comes first (RFC 2046 section 5.1.4). HTML comes behind AMP, because programs that do not know AMP show the last form.
  const forms = [plain, interactive, shown, ...calendars].filter((part) => part !== undefined);
  const [first = textEntity('plain', '')] = forms;
  const content = forms.length > 1 ? nest('alternative', forms) : first;
  if (others.length === 0) return content;
  return nest('mixed', [content, ...others]);
}

function withEndMark(leaf: LeafEntity): LeafEntity {
  return {
    ...leaf,
    *body() {
      yield* leaf.body();
      yield TEXTS_END;
    },
  };
}
