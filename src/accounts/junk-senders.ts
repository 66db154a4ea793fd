/** Finds out who has sent the newest mail in the folder for spam, for the owner of the mailbox. */
import { isAsciiAddress, parseMailbox } from '../mail/address.ts';
import { type EnvelopeAddress, readAddressList } from '../mail/message/address-list.ts';
import { decodeWords } from '../mail/message/decode-words.ts';
import { readValues } from '../mail/message/header-block.ts';
import { nextSlice } from '../system/slices.ts';
import type { OpenAccount } from './account.ts';
import { findFolderBySpecialUse } from './folder-store.ts';
import { type HeaderStart, listNewestHeaders } from './stored-message-store.ts';

/** A sender, with the number of its messages among those that were read, and the time at which the newest has come. */
type JunkSender = { address: string; name: string; messages: number; lastAt: number };

export type JunkSenders = {
  /** Name of the folder for spam; null when the mailbox has none. */
  folder: string | null;
  /** Those who have sent the newest messages, the latest first. */
  senders: JunkSender[];
};

export const NO_JUNK: JunkSenders = { folder: null, senders: [] };

/** Maximum number of messages that are read, the newest ones. */
export const MAX_JUNK_MESSAGES = 100;
/** Maximum size of the part of a header that is read. The sender of nearly all mail stands in it, and strangers can send larger ones. */
const MAX_HEADER_OCTETS = 32 * 1024;
/** Number of headers that are read before other accounts of the thread go on: a few milliseconds. */
const HEADERS_PER_SLICE = 10;
/** Maximum length of a name. Names are shown in a table. */
const MAX_NAME_CHARACTERS = 100;

/** Returns the senders of the newest messages in the folder for spam. Those without a valid sender are left out. */
export async function listJunkSenders({ db }: OpenAccount): Promise<JunkSenders> {
  const folder = await findFolderBySpecialUse(db.read, '\\Junk');
  if (!folder) return NO_JUNK;
  const newest = { folderId: folder.id, limit: MAX_JUNK_MESSAGES, maxOctets: MAX_HEADER_OCTETS };
  const senders = new Map<string, JunkSender>();
  for (const [index, message] of (await listNewestHeaders(db.read, newest)).entries()) {
    if (index > 0 && index % HEADERS_PER_SLICE === 0) await nextSlice();
    const sender = senderOf(message);
    if (!sender) continue;
    const known = senders.get(sender.address);
    if (known) known.messages += 1;
    else senders.set(sender.address, { ...sender, messages: 1, lastAt: message.internalAt });
  }
  return { folder: folder.name, senders: [...senders.values()] };
}

/** Returns the first sender of a message; undefined when it has none that a rule could name. */
function senderOf({ header }: HeaderStart): Pick<JunkSender, 'address' | 'name'> | undefined {
  const [from = ''] = readValues(header, { start: 0, end: header.length }, 'from');
  const [first] = readAddressList(from, 1);
  const address = first && addressOf(first);
  if (address === undefined) return undefined;
  return { address, name: decodeWords(first?.name ?? '').slice(0, MAX_NAME_CHARACTERS) };
}

/** Letters of ASCII are compared without case by the rules, which name the address. */
function addressOf({ mailbox, host }: EnvelopeAddress): string | undefined {
  const parsed = parseMailbox(`${mailbox}@${host}`);
  if (!parsed || mailbox === null || host === null) return undefined;
  const { address } = parsed;
  return isAsciiAddress(address) ? address.toLowerCase() : address;
}
