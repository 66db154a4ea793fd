/** Shapes of the requests that change messages of a mailbox and write drafts. */
import { type Static, Type } from 'typebox';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';

/** Maximum number of addresses of a field. A message has at most as many recipients (submission/hand-over.ts). */
const MAX_ADDRESSES = 100;
/** Maximum length of a subject, that of a line (RFC 5322 section 2.1.1). */
const MAX_SUBJECT_CHARACTERS = 998;
/** Maximum length of the text and of the HTML of a draft. */
const MAX_TEXT_CHARACTERS = 1024 * 1024;

export const messageChangeSchema = Type.Object(
  {
    unread: Type.Optional(Type.Boolean()),
    flagged: Type.Optional(Type.Boolean()),
    folder: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1_000,
        description:
          'Role (`trash`, `archive`, `junk`, `inbox`, …), id or name of the folder that gets the message.',
      }),
    ),
  },
  { examples: [{ unread: false, folder: 'archive' }] },
);
export type MessageChangeBody = Static<typeof messageChangeSchema>;

const addresses = (description: string) =>
  Type.Optional(Type.Array(Type.String(), { maxItems: MAX_ADDRESSES, description }));
const text = (description: string) =>
  Type.Optional(Type.String({ maxLength: MAX_TEXT_CHARACTERS, description }));

export const newDraftSchema = Type.Object(
  {
    inReplyTo: Type.Optional(
      Type.String({ description: 'Id of a message of the mailbox that the draft answers.' }),
    ),
    replyAll: Type.Optional(
      Type.Boolean({
        description: 'True when the answer also goes to the other recipients. By default, false.',
      }),
    ),
    quote: Type.Optional(
      Type.Boolean({ description: 'False when an answer does not quote the message. By default, true.' }),
    ),
    forwards: Type.Optional(
      Type.String({ description: 'Id of a message of the mailbox that the draft forwards.' }),
    ),
    forwardAs: Type.Optional(
      Type.Enum(['inline', 'attachment'], {
        description:
          '`inline`: its text and its files are those of the draft. `attachment`: the whole message is attached. By default, `inline`.',
      }),
    ),
    from: Type.Optional(
      Type.String({
        description:
          'An address of the mailbox, with or without a name. By default, the one that was written to.',
      }),
    ),
    to: addresses('By default, for an answer, its Reply-To or its author.'),
    cc: addresses('By default, with `replyAll`, the other recipients.'),
    bcc: addresses('Recipients that the others do not see.'),
    subject: Type.Optional(
      Type.String({
        maxLength: MAX_SUBJECT_CHARACTERS,
        pattern: PLAIN_TEXT,
        description: 'By default, that of the message with `Re:` or `Fwd:`.',
      }),
    ),
    text: text('Plain text. What is quoted follows it.'),
    html: text('HTML. What is quoted follows it.'),
  },
  { examples: [{ inReplyTo: 'Mk3n8vq7wz2mdx9c4', text: 'It arrives tomorrow.' }] },
);
export type NewDraft = Static<typeof newDraftSchema>;
