/** Schemas of imports of mail from other servers, which are not part of the specification. */
import { type Static, Type } from 'typebox';
import type { MailboxImportRow } from '../db/mailbox-tables.ts';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { nullableText } from '../jobs/schemas.ts';
import { isoTime } from '../system/clock.ts';
import { readCounts } from './counts.ts';

/** Maximum lengths of a user name and of a password. */
const MAX_USER_CHARACTERS = 320;
const MAX_PASSWORD_CHARACTERS = 1_000;
/** Maximum length of a host name (RFC 1035 section 2.3.4). */
const MAX_HOST_CHARACTERS = 253;
const MAX_PORT = 65_535;

const host = Type.String({
  minLength: 1,
  maxLength: MAX_HOST_CHARACTERS,
  description: 'Name of the IMAP server. Its certificate must be valid for this name.',
});
const port = Type.Integer({ minimum: 1, maximum: MAX_PORT });
const security = Type.Enum(['tls', 'starttls'], {
  description:
    '`tls`: the connection begins with TLS. `starttls`: STARTTLS encrypts it before anything secret is sent.',
});
const user = Type.String({
  minLength: 1,
  maxLength: MAX_USER_CHARACTERS,
  pattern: PLAIN_TEXT,
  description: 'Name with which the owner of the mail logs in.',
});

const EXAMPLE = { host: 'imap.example.com', user: 'ann@example.com' };

export const newImportSchema = Type.Object(
  {
    host,
    port: Type.Optional({
      ...port,
      description: '993 for `tls` and 143 for `starttls` unless it is given. Below 1024 there is no other.',
    }),
    security: Type.Optional(security),
    user,
    password: Type.String({
      minLength: 1,
      maxLength: MAX_PASSWORD_CHARACTERS,
      pattern: PLAIN_TEXT,
      description:
        'Password or app password. It is stored encrypted, deleted when the import ends, and never shown.',
    }),
  },
  { examples: [{ ...EXAMPLE, password: 'correct horse battery staple' }] },
);
export type NewImport = Static<typeof newImportSchema>;

const count = (description: string) => Type.Integer({ description });

export const mailboxImportSchema = Type.Object(
  {
    id: Type.String(),
    mailboxId: Type.String(),
    host,
    port,
    security,
    user,
    status: Type.Enum(['queued', 'running', 'completed', 'failed']),
    reason: Type.Union(
      [
        Type.Enum([
          'mailbox_full',
          'mailbox_suspended',
          'login_refused',
          'source_refused',
          'source_unavailable',
          'internal',
        ]),
        Type.Null(),
      ],
      {
        description:
          'Why the import failed: the mailbox is full, or was suspended for a week; the server refuses the login; nobody may connect to the server, or its certificate is not valid; it could not be reached for hours. Messages that were imported stay.',
      },
    ),
    error: nullableText('Why the import failed, or, while it is running, why it waits for another attempt.'),
    folders: count('Number of folders that are imported.'),
    foldersDone: count('Number of folders that are done.'),
    messages: count('Number of messages in the folders that were opened so far.'),
    imported: count('Number of messages that this import has added.'),
    importedBytes: count('Size of the messages that this import has added.'),
    known: count('Number of messages that were imported before, also those that were deleted since.'),
    failed: count('Number of messages that could not be imported; `/errors` says why.'),
    createdAt: Type.String(),
    startedAt: nullableText('Time at which the import began to run; null while it is queued.'),
    finishedAt: nullableText(
      'Time at which the import ended; null before that. It is then kept for 30 days, unless it is deleted earlier.',
    ),
  },
  {
    title: 'MailboxImport',
    examples: [
      {
        id: 'mim_01khq3z5vgxw1r8t6n2m4c9b7d',
        mailboxId: 'mbx_01khq3z5vgxw1r8t6n2m4c9b7d',
        ...EXAMPLE,
        port: 993,
        security: 'tls',
        status: 'running',
        reason: null,
        error: null,
        folders: 12,
        foldersDone: 3,
        messages: 8_400,
        imported: 7_900,
        importedBytes: 412_034_112,
        known: 120,
        failed: 1,
        createdAt: '2026-03-01T09:00:00.000Z',
        startedAt: '2026-03-01T09:00:00.120Z',
        finishedAt: null,
      },
    ],
  },
);

/** Returns an import as the API shows it. */
export function showImport(row: MailboxImportRow): Static<typeof mailboxImportSchema> {
  const { id, mailboxId, host, port, security, user, status, reason, error } = row;
  const time = (value: number | null) => (value === null ? null : isoTime(value));
  return {
    id,
    mailboxId,
    host,
    port,
    security,
    user,
    status,
    reason,
    error,
    ...readCounts(row),
    createdAt: isoTime(row.createdAt),
    startedAt: time(row.startedAt),
    finishedAt: time(row.finishedAt),
  };
}
