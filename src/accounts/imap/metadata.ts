/** GETMETADATA and SETMETADATA over an account (RFC 5464). */

import { writeMetadata } from '../../mail/imap/encode/mailboxes.ts';
import type { TextForm } from '../../mail/imap/encode/strings.ts';
import { chooseEntries, type MetadataQuery } from '../../mail/imap/metadata.ts';
import type { Account, Chunks, Refusal } from '../../mail/imap/session.ts';
import type { OpenAccount } from '../account.ts';
import { findSubject, type NotSet, setMetadata } from '../metadata.ts';
import { findValue, listEntries } from '../metadata-store.ts';
import { missingMailbox, Responses } from './responses.ts';

/** Octets of values after which a response ends, about those of a chunk. */
const BATCH_OCTETS = 64 * 1024;

/** Sets or removes all of these entries, or none. */
export async function setEntries(
  account: OpenAccount,
  setting: Parameters<typeof setMetadata>[1],
): ReturnType<Account['setMetadata']> {
  const refused = await setMetadata(account, setting);
  return refused && notSet(refused);
}

/** Yields the responses with the values that are asked for. Each has values of one chunk, and at least one. */
export async function* listMetadata(account: OpenAccount, query: MetadataQuery, form: TextForm): Chunks {
  const { read } = account.db;
  const folderId = await findSubject(read, query.mailbox);
  if (folderId === undefined) return missingMailbox();
  const { chosen, longest } = chooseEntries(await listEntries(read, folderId), query);
  const responses = new Responses();
  let batch: { entry: string; value: Uint8Array | undefined }[] = [];
  let octets = 0;
  for (const [index, one] of chosen.entries()) {
    const entry = typeof one === 'string' ? one : one.entry;
    const value = typeof one === 'string' ? undefined : await findValue(read, { folderId, entry });
    batch.push({ entry, value });
    octets += value?.length ?? 0;
    if (octets < BATCH_OCTETS && index < chosen.length - 1) continue;
    responses.addPieces(writeMetadata(query.mailbox, batch, form));
    yield* responses.take();
    batch = [];
    octets = 0;
  }
  return longest === undefined ? undefined : { noticed: `METADATA LONGENTRIES ${longest}` };
}

/** Returns the refusal of annotations that were not set (RFC 5464 section 4.3). */
function notSet({ refused }: NotSet): Refusal {
  switch (refused) {
    case 'folder':
      return missingMailbox();
    case 'entries':
      return { refused: 'NO', code: 'METADATA TOOMANY', text: 'There are too many annotations' };
    case 'octets':
      return { refused: 'NO', code: 'LIMIT', text: 'The annotations of the account are too large' };
  }
}
