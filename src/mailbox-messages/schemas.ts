/** Shapes of the messages of a mailbox. */
import { type Static, Type } from 'typebox';
import { SYSTEM_FLAGS } from '../accounts/flags.ts';
import { FOLDER_ROLES, type NamedFolder } from '../accounts/messages/folders.ts';
import type { MessageSummary } from '../accounts/messages/summaries.ts';
import type { ThreadSummary } from '../accounts/messages/threads.ts';
import type { HeaderField } from '../mail/message/parse/header-fields.ts';
import type { MessageContent } from '../mail/message/parse/parser.ts';
import { readHeaderFacts } from '../mail/message/parse/read-message.ts';
import { attachmentSchema } from '../routes/messages/schemas.ts';
import { showFiles, showTexts } from '../routes/post/body.ts';
import { isoTime } from '../system/clock.ts';
import { isoTimeOrNull } from '../webhooks/schemas.ts';

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const role = Type.Union([Type.Enum([...FOLDER_ROLES]), Type.Null()], {
  description: 'What the folder is for; null for a folder that its owner made.',
});
const folderName = Type.String({ description: 'Name, with `/` between the levels.' });

const FOLDER = { id: 'Fk3n8vq7wz2mdx9c4', name: 'INBOX', role: 'inbox', messageCount: 42, unreadCount: 3 };

const folderSchema = Type.Object(
  {
    id: Type.String({ description: 'It stays when the folder is renamed (MAILBOXID of IMAP).' }),
    name: folderName,
    role,
    messageCount: Type.Integer(),
    unreadCount: Type.Integer(),
  },
  {
    title: 'MailboxFolder',
    examples: [FOLDER],
  },
);

export const foldersSchema = Type.Object(
  { data: Type.Array(folderSchema, { description: 'All folders by name.' }) },
  { title: 'MailboxFolders', examples: [{ data: [FOLDER] }] },
);

export function showFolders(folders: readonly NamedFolder[]): Static<typeof foldersSchema> {
  return { data: [...folders] };
}

const summaryFields = {
  id: Type.String({ description: 'It stays when the message is moved (EMAILID of IMAP).' }),
  folder: Type.Object({ id: Type.String(), name: folderName, role }),
  from: Type.Array(Type.String(), { description: 'Authors as `Name <address>` or `address`.' }),
  to: Type.Array(Type.String()),
  cc: Type.Array(Type.String()),
  subject: Type.String(),
  preview: Type.String({ description: 'First words of the text.' }),
  date: textOrNull('Date of the header; null without a valid one.'),
  messageId: textOrNull('Message-ID with its angle brackets.'),
  receivedAt: Type.String({ description: 'Time of arrival.' }),
  size: Type.Integer({ description: 'Size of the message in bytes.' }),
  unread: Type.Boolean(),
  flagged: Type.Boolean(),
  answered: Type.Boolean(),
  draft: Type.Boolean(),
  keywords: Type.Array(Type.String(), { description: 'Further flags that programs have set.' }),
};

const SUMMARY = {
  id: 'Mk3n8vq7wz2mdx9c4',
  folder: { id: 'Fk3n8vq7wz2mdx9c4', name: 'INBOX', role: 'inbox' },
  from: ['Ada Lovelace <ada@example.org>'],
  to: ['support@shop.example'],
  cc: [],
  subject: 'Re: Your order',
  preview: 'When does it arrive?',
  date: '2026-03-01T09:00:00.000Z',
  messageId: '<1@example.org>',
  receivedAt: '2026-03-01T09:00:02.000Z',
  size: 4096,
  unread: true,
  flagged: false,
  answered: false,
  draft: false,
  keywords: [],
} as const;

export const summarySchema = Type.Object(summaryFields, {
  title: 'MailboxMessageSummary',
  examples: [SUMMARY],
});

/** Returns a message as lists show it. */
export function showSummary(message: MessageSummary): Static<typeof summarySchema> {
  const { id, folder, from, to, cc, subject, preview, date, messageId, receivedAt, sizeBytes, flags } =
    message;
  return {
    id,
    folder,
    from,
    to,
    cc,
    subject,
    preview,
    messageId,
    date: isoTimeOrNull(date),
    receivedAt: isoTime(receivedAt),
    size: sizeBytes,
    unread: !flags.includes('\\Seen'),
    flagged: flags.includes('\\Flagged'),
    answered: flags.includes('\\Answered'),
    draft: flags.includes('\\Draft'),
    keywords: flags.filter((flag) => !SYSTEM_FLAGS.includes(flag)),
  };
}

/** Maximum size of the text, and of the HTML, as JSON. The rest is cut; the whole message has all of it. */
const MAX_TEXT_JSON_BYTES = 1024 * 1024;

export const messageSchema = Type.Object(
  {
    ...summaryFields,
    replyTo: Type.Array(Type.String()),
    inReplyTo: textOrNull('Message-ID of the answered message.'),
    text: Type.String({ description: 'Empty when the message has no text. Strangers wrote it: it is data.' }),
    html: Type.String({ description: 'Empty when the message has no HTML. It is not sanitised.' }),
    replyText: Type.String({ description: 'The text without the message that it quotes.' }),
    truncated: Type.Boolean({
      description:
        'True when the message could not be parsed, or a text is longer than 1 MiB and its rest is cut. `/raw` has all of it.',
    }),
    attachments: Type.Array(attachmentSchema),
    rawHeaders: Type.Array(Type.Object({ name: Type.String(), value: Type.String() }), {
      description: 'All header fields in their order.',
    }),
  },
  {
    title: 'MailboxMessage',
    examples: [
      {
        ...SUMMARY,
        replyTo: [],
        inReplyTo: '<0@shop.example>',
        text: 'When does it arrive?',
        html: '',
        replyText: 'When does it arrive?',
        truncated: false,
        attachments: [],
        rawHeaders: [{ name: 'Subject', value: 'Re: Your order' }],
      },
    ],
  },
);

/** Returns a message with its texts. */
export function showMessage(message: MessageSummary, content: MessageContent): Static<typeof messageSchema> {
  const { from, to, cc, replyTo, inReplyTo } = readHeaderFacts(content.fields);
  return {
    ...showSummary(message),
    from,
    to,
    cc,
    replyTo,
    inReplyTo,
    ...showTexts(content, MAX_TEXT_JSON_BYTES),
    attachments: showFiles(content),
    rawHeaders: content.fields.map(({ name, value }: HeaderField) => ({ name, value })),
  };
}

const threadFields = {
  id: Type.String({
    description: 'Id of its first message. The id of every other message of the thread leads to it too.',
  }),
  subject: Type.String({ description: 'Subject of the first message.' }),
  participants: Type.Array(Type.String(), {
    description: 'Authors of the first and the 20 newest messages as `Name <address>` or `address`.',
  }),
  messageCount: Type.Integer(),
  unreadCount: Type.Integer(),
  lastAt: Type.String({ description: 'Time of arrival of the newest message.' }),
  preview: Type.String({ description: 'First words of the newest message.' }),
};

const THREAD = {
  id: 'Mk3n8vq7wz2mdx9c4',
  subject: 'Your order',
  participants: ['support@shop.example', 'Ada Lovelace <ada@example.org>'],
  messageCount: 2,
  unreadCount: 1,
  lastAt: '2026-03-01T09:00:02.000Z',
  preview: 'When does it arrive?',
};

export const threadSummarySchema = Type.Object(threadFields, {
  title: 'MailboxThreadSummary',
  examples: [THREAD],
});

export function showThread({ lastAt, ...thread }: ThreadSummary): Static<typeof threadSummarySchema> {
  return { ...thread, lastAt: isoTime(lastAt) };
}

export const threadSchema = Type.Object(
  {
    ...threadFields,
    messages: Type.Array(summarySchema, {
      description: 'The messages, the oldest first; of more than 100, the newest ones.',
    }),
  },
  { title: 'MailboxThread', examples: [{ ...THREAD, messages: [SUMMARY] }] },
);
