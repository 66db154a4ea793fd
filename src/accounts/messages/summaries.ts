/** Describes messages for programs: what their headers say, and their flags. */
import { readHeaderFields } from '../../mail/message/parse/header-fields.ts';
import { readHeaderFacts } from '../../mail/message/parse/read-message.ts';
import { createPause } from '../../system/slices.ts';
import type { OpenAccount } from '../account.ts';
import { findContent, findHeader } from '../content-store.ts';
import { flagNames } from '../flags.ts';
import { listKeywordSets } from '../keyword-store.ts';
import type { ScannedRow } from '../message-scan-store.ts';
import type { FolderRow } from '../tables.ts';
import { type FolderRole, roleOf } from './folders.ts';

/** A message as lists show it. Times are Unix milliseconds. */
export type MessageSummary = {
  /** EMAILID (RFC 8474). It stays when the message is moved. */
  id: string;
  folder: { id: string; name: string; role: FolderRole | null };
  /** Mailboxes as `Name <address>` or `address`, at most `MAX_SHOWN_ADDRESSES`. */
  from: string[];
  to: string[];
  cc: string[];
  subject: string;
  /** Date of the header; null without a valid one. */
  date: number | null;
  /** Message-ID with its angle brackets. */
  messageId: string | null;
  receivedAt: number;
  sizeBytes: number;
  /** First words of the text. */
  preview: string;
  /** Flags in the spelling of IMAP, system flags first, then keywords. */
  flags: string[];
};

/** Maximum number of addresses of one field that a summary shows. The message itself has all. */
const MAX_SHOWN_ADDRESSES = 50;
/** Maximum length of a subject that a summary shows, that of a line (RFC 5322 section 2.1.1). */
const MAX_SUBJECT_CHARACTERS = 998;

/** Returns the summaries of messages, in their order. Other work of the thread runs in between. */
export async function summarize(
  account: OpenAccount,
  folders: ReadonlyMap<number, FolderRow>,
  rows: readonly ScannedRow[],
): Promise<MessageSummary[]> {
  const { read } = account.db;
  const sets = await listKeywordSets(read, [...new Set(rows.map(({ keywordSetId }) => keywordSetId))]);
  const pause = createPause(account.app.clock);
  const summaries: MessageSummary[] = [];
  for (const row of rows) {
    const folder = folders.get(row.folderId);
    if (!folder) continue;
    const facts = await readFacts(account, row.contentId);
    summaries.push({
      id: row.emailId,
      folder: { id: folder.objectId, name: folder.name, role: roleOf(folder) },
      ...facts,
      receivedAt: row.internalAt,
      sizeBytes: row.sizeBytes,
      flags: flagNames({ flags: row.flags, keywords: sets.get(row.keywordSetId) ?? [] }),
    });
    await pause();
  }
  return summaries;
}

type Facts = Pick<MessageSummary, 'from' | 'to' | 'cc' | 'subject' | 'date' | 'messageId' | 'preview'>;

async function readFacts({ db: { read } }: OpenAccount, contentId: number): Promise<Facts> {
  const header = await findHeader(read, contentId);
  const { from, to, cc, subject, date, messageId } = readHeaderFacts(header ? fieldsOf(header) : []);
  return {
    from: from.slice(0, MAX_SHOWN_ADDRESSES),
    to: to.slice(0, MAX_SHOWN_ADDRESSES),
    cc: cc.slice(0, MAX_SHOWN_ADDRESSES),
    subject: subject.slice(0, MAX_SUBJECT_CHARACTERS).toWellFormed(),
    date,
    messageId,
    preview: (await findContent(read, contentId))?.preview ?? '',
  };
}

/** A header that is too large says nothing. */
function fieldsOf(header: Uint8Array): ReturnType<typeof readHeaderFields> {
  try {
    return readHeaderFields(header);
  } catch {
    return [];
  }
}
