/**
 * Composes a message: the header fields that do not depend on its body, in the order in which they are sent, and its body (RFC 2045) from its
 * texts and files. The same input gives the same bytes, so that a resend is recognisable. Blind copies have no field: they are in the
 * envelope only (RFC 5322 section 3.6.3).
 */
import type { Mailbox } from '../address.ts';
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
import { addressField, partlyEncodedField, structuredField, textField } from './headers.ts';
import { customField } from './repair/custom-field.ts';

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

export type MessageFields = {
  from: Mailbox;
  to: readonly Mailbox[];
  cc: readonly Mailbox[];
  replyTo: readonly Mailbox[];
  subject: string;
  /** True for a subject that may hold encoded-words, which are kept. */
  isPartlyEncoded?: boolean;
  /** Header fields that the caller set, in order: printable text, and none of the fields that are written here. */
  headers: readonly { name: string; value: string }[];
  /** Message id without its angle brackets. */
  messageId: string;
};

/** Matches a message id: the characters of dot-atom-text on both sides of the `@` (RFC 5322 section 3.6.4). */
const MESSAGE_ID = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+@[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~.]+$/;
/**
 * Fields that callers cannot set: they occur only once, define the meaning of others (RFC 5322 section 3.6, RFC
 * 2045), or are added when the message is sent.
 */
const NOT_CUSTOM: ReadonlySet<string> = new Set([
  ...['from', 'sender', 'to', 'cc', 'bcc', 'reply-to', 'subject', 'date', 'message-id', 'mime-version'],
  ...['content-type', 'content-transfer-encoding', 'content-disposition', 'content-id'],
  ...['return-path', 'received', 'dkim-signature'],
]);

/**
 * Returns the fields from `From` to `MIME-Version`, each with its CRLF.
 * @throws RangeError when a field would break the header
 */
export function writeMessageFields(message: MessageFields): string {
  if (!MESSAGE_ID.test(message.messageId)) throw new RangeError('the value is not a message id');
  return (
    addressField('From', [message.from]) +
    optionalAddresses('To', message.to) +
    optionalAddresses('Cc', message.cc) +
    optionalAddresses('Reply-To', message.replyTo) +
    (message.isPartlyEncoded ? partlyEncodedField : textField)('Subject', message.subject) +
    structuredField('Message-ID', `<${message.messageId}>`) +
    message.headers.map(ownField).join('') +
    structuredField('MIME-Version', '1.0')
  );
}

function optionalAddresses(name: string, mailboxes: readonly Mailbox[]): string {
  return mailboxes.length === 0 ? '' : addressField(name, mailboxes);
}

function ownField({ name, value }: { name: string; value: string }): string {
  if (NOT_CUSTOM.has(name.toLowerCase()))
    throw new RangeError(`header field ${name} is not the caller's to set`);
  return customField(name, value);
}
