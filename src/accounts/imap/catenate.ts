/** Puts messages together from texts of the client and from parts of stored messages of the same account (RFC 4469). */

import { badUrl, type MessageUrl, parseMessageUrl } from '../../mail/imap/message-url.ts';
import type { AppendCatenation, Refusal } from '../../mail/imap/session.ts';
import { LineEnds } from '../../mail/message/crlf.ts';
import { AppError } from '../../system/errors.ts';
import { createPause } from '../../system/slices.ts';
import type { OpenAccount } from '../account.ts';
import { discard, type PreparedContent, prepareContent, preparedChunks } from '../content.ts';
import { findFolderById, findFolderByName } from '../folder-store.ts';
import { listStored } from '../stored-message-store.ts';
import { canonicalContent } from './append-content.ts';
import { isOfHeader } from './fetch-plan.ts';
import { MessageOctets, OCTET_COLUMNS } from './sections.ts';

/** Octets beyond which a message is refused, and how. */
export type Limit = { octets: number; refusal: Refusal };

type Source = {
  account: OpenAccount;
  /** Folder that the session has selected, in which relative URLs begin. */
  selectedId: number | undefined;
  /** The message has at least one octet, and no more than each of these. */
  limits: readonly Limit[];
};

/** Ends the reading of a message. */
class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.text);
    this.refusal = refusal;
  }
}

/**
 * Prepares the content, of which one piece is in memory at a time. A message with binary parts is read again into memory, as one that
 * is a binary literal.
 */
export async function prepareCatenated(
  source: Source,
  { content }: AppendCatenation,
): Promise<PreparedContent | Refusal> {
  const { account } = source;
  const reader = new Reader(source);
  try {
    const prepared = await prepareContent(account, reader.read(content));
    if (!reader.hasBinary) return prepared;
    return await prepareAgain(account, prepared);
  } catch (error) {
    if (error instanceof Refused) return error.refusal;
    throw error;
  }
}

/** Prepares a content with binary parts in its canonical form. */
async function prepareAgain(account: OpenAccount, first: PreparedContent): Promise<PreparedContent> {
  try {
    const content = { content: preparedChunks(account, first), isBinary: true };
    return await prepareContent(account, canonicalContent(content, { accountId: account.id }));
  } finally {
    await discard(account, first);
  }
}

/** Reads the parts of one message, and compares their octets with the limits. */
class Reader {
  hasBinary = false;
  readonly #source: Source;
  readonly #lineEnds = new LineEnds();
  /** Lets other sessions in, because a command can name thousands of parts. */
  readonly #pause: ReturnType<typeof createPause>;
  #octets = 0;

  constructor(source: Source) {
    this.#source = source;
    this.#pause = createPause(source.account.app.clock);
  }

  /** Yields the octets of all parts. From a binary part on, lines keep their ends. */
  async *read(content: AppendCatenation['content']): AsyncGenerator<Buffer, void, undefined> {
    let isBinary = false;
    for await (const piece of content) {
      if (Buffer.isBuffer(piece)) {
        if (!isBinary && piece.includes(0))
          throw new AppError('validation_error', 'A text with NUL is sent as a binary literal');
        yield this.#take(piece);
      } else if (piece.kind === 'url') yield* this.#readUrl(piece.url);
      else {
        isBinary = piece.isBinary;
        this.hasBinary ||= isBinary;
        this.#requireWithinLimits(piece.sizeBytes);
      }
    }
    if (this.#octets === 0)
      throw new Refused({ refused: 'NO', code: 'CANNOT', text: 'A message has at least one octet' });
  }

  #take(piece: Buffer): Buffer {
    this.#requireWithinLimits(piece.length);
    this.#octets += piece.length;
    return this.hasBinary ? piece : this.#lineEnds.next(piece);
  }

  /** Checks that this number of further octets stays within all limits. @throws Refused */
  #requireWithinLimits(octets: number): void {
    const exceeded = this.#source.limits.find((limit) => this.#octets + octets > limit.octets);
    if (exceeded) throw new Refused(exceeded.refusal);
  }

  /** Yields what FETCH returns as the literal of BODY, without setting `\\Seen`. */
  async *#readUrl(url: string): AsyncGenerator<Buffer, void, undefined> {
    const { account } = this.#source;
    await this.#pause();
    const named = parseMessageUrl(url, await this.#selectedName());
    const message = named && (await findMessage(account, named));
    if (!named || !message) throw new Refused(badUrl(url));
    // Another session may remove the message while the client sends the next part slowly.
    account.heldContents.add(message.contentId);
    try {
      const item = {
        kind: 'SECTION',
        label: '',
        peek: true,
        section: named.section,
        partial: named.partial,
      } as const;
      const octets = await new MessageOctets(account, message).section(item, isOfHeader(item));
      if (!octets) throw new Refused(badUrl(url));
      this.#requireWithinLimits(octets.sizeBytes);
      for await (const piece of octets.pieces) yield this.#take(piece);
    } finally {
      account.heldContents.delete(message.contentId);
    }
  }

  async #selectedName(): Promise<string | undefined> {
    const { account, selectedId } = this.#source;
    return selectedId === undefined ? undefined : (await findFolderById(account.db.read, selectedId))?.name;
  }
}

async function findMessage({ db }: OpenAccount, { mailbox, uidValidity, uid }: MessageUrl) {
  const folder = await findFolderByName(db.read, mailbox);
  if (!folder || (uidValidity ?? folder.uidValidity) !== folder.uidValidity) return undefined;
  const range = { folderId: folder.id, uidFrom: uid, uidTo: uid };
  const [message] = await listStored(db.read, range, OCTET_COLUMNS);
  return message;
}
