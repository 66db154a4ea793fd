/** Finds one message of an account by its id, which is its EMAILID, and reads its octets. */
import { notFound } from '../../system/errors.ts';
import type { OpenAccount } from '../account.ts';
import { findFolderById } from '../folder-store.ts';
import { MessageOctets, OCTET_COLUMNS } from '../imap/sections.ts';
import { findByEmailId, type ScannedRow } from '../message-scan-store.ts';
import { settleFlags } from '../settle-flags.ts';
import { listStored } from '../stored-message-store.ts';
import type { FolderRow } from '../tables.ts';
import { type MessageSummary, summarize } from './summaries.ts';

/** A message, and the folder that it is in. */
type Located = { row: ScannedRow; folder: FolderRow };

/** Maximum number of octets that one call reads: half of what counts for a streamed response (http/transport/response-budget.ts), which holds two. */
const MAX_SLICE_BYTES = 256 * 1024;

/**
 * Returns where a message is, with its present flags.
 * @throws AppError not_found
 */
export async function locate(account: OpenAccount, id: string): Promise<Located> {
  const { read } = account.db;
  const first = await findByEmailId(read, id);
  if (first) await settleFlags(account, first.folderId);
  const row = first && (await findByEmailId(read, id));
  const folder = row && (await findFolderById(read, row.folderId));
  if (!folder) throw notFound('Message');
  return { row, folder };
}

/**
 * Returns a message as lists show it.
 * @throws AppError not_found
 */
export async function getMessage(account: OpenAccount, { id }: { id: string }): Promise<MessageSummary> {
  const { row, folder } = await locate(account, id);
  const [summary] = await summarize(account, new Map([[folder.id, folder]]), [row]);
  if (!summary) throw notFound('Message');
  return summary;
}

/**
 * Returns octets of a message from an offset on, at most `MAX_SLICE_BYTES`. The header begins with the fields that this recipient alone
 * has.
 * @throws AppError not_found, also for a message that was removed between two slices; DamagedBlobError
 */
export async function readOctets(
  account: OpenAccount,
  { id, offset }: { id: string; offset: number },
): Promise<Uint8Array> {
  const { folderId, uid } = (await locate(account, id)).row;
  const range = { folderId, uidFrom: uid, uidTo: uid };
  const [stored] = await listStored(account.db.read, range, OCTET_COLUMNS);
  if (!stored) throw notFound('Message');
  const section = { part: [], text: undefined, fields: [] };
  const partial = { offset, count: MAX_SLICE_BYTES };
  const octets = await new MessageOctets(account, stored).section(
    { kind: 'SECTION', label: '', section, partial, peek: true },
    false,
  );
  const pieces: Buffer[] = [];
  if (octets) for await (const piece of octets.pieces) pieces.push(piece);
  // The memory must be its own, because it moves to another thread.
  return new Uint8Array(Buffer.concat(pieces));
}
