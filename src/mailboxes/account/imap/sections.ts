/** Finds the octets of sections in a stored message. The prefix of its recipient stands in front of the content. */

import { crc32 } from 'node:zlib';
import { DamagedBlobError } from '../../../blobs/damaged.ts';
import type { FetchItem } from '../../../mail/imap/fetch-item.ts';
import type { OctetRange } from '../../../mail/message/header-block.ts';
import {
  chooseFields,
  decodeBinary,
  findBinary,
  findSection,
  type PartialRange,
  partialRange,
  type StoredPart,
} from '../../../mail/message/section.ts';
import type { OpenAccount } from '../account.ts';
import { contentChunks, readContent, readRange } from '../content.ts';
import type { StoredMessage } from '../stored-message-store.ts';

type SectionItem = FetchItem & { kind: 'SECTION' };
type BinaryItem = FetchItem & { kind: 'BINARY' | 'BINARY.SIZE' };

/** Octets of one message, of which only what is asked for is read. */
export class MessageOctets {
  readonly #account: OpenAccount;
  readonly #message: StoredMessage;
  /** The content when it is in the database. */
  readonly #inline: Buffer | undefined;

  constructor(account: OpenAccount, message: StoredMessage) {
    this.#account = account;
    this.#message = message;
    this.#inline = message.octets ? joinContent(account, message) : undefined;
  }

  /** Returns the octets of a section; undefined when the message has no such section. */
  async section({ section, partial }: SectionItem, isHeader: boolean): Promise<Buffer | undefined> {
    const { header } = this.#message;
    if (isHeader) return cut(chooseFields(headerOf(this.#message), section), partial);
    const { part, text } = section;
    if (part.length === 0 && text === undefined) return await this.#whole(partial);
    if (part.length === 0 && text === 'TEXT')
      return await this.#read(partialRange({ start: header.length, end: this.#size }, partial));
    const range = findSection(this.#root, section);
    if (!range) return undefined;
    if (!text?.startsWith('HEADER.')) return await this.#read(partialRange(range, partial));
    return cut(chooseFields(await this.#read(range), section), partial);
  }

  /** Returns the decoded octets of a part; `unknown` for a transfer encoding that is unknown, and undefined for no such part. */
  async binary(item: BinaryItem): Promise<Buffer | 'unknown' | undefined> {
    const partial = item.kind === 'BINARY' ? item.partial : undefined;
    if (item.part.length === 0) return await this.#whole(partial);
    const found = findBinary(this.#root, item.part);
    if (!found) return undefined;
    const decoded = decodeBinary(await this.#read(found.range), found.encoding);
    return decoded ? cut(decoded, partial) : 'unknown';
  }

  /** Returns the content after the prefix, which is read when it is iterated; undefined for one that is in memory. */
  stream(): AsyncGenerator<Buffer> | undefined {
    return this.#inline ? undefined : contentChunks(this.#account, this.#message.contentId);
  }

  /** Returns all octets. */
  async whole(): Promise<Buffer> {
    return await this.#whole(undefined);
  }

  get #size(): number {
    return this.#message.sizeBytes - this.#message.prefix.length;
  }

  get #root(): StoredPart {
    return JSON.parse(this.#message.root) as StoredPart;
  }

  async #whole(partial: PartialRange | undefined): Promise<Buffer> {
    const { prefix, sizeBytes } = this.#message;
    const { start, end } = partialRange({ start: 0, end: sizeBytes }, partial);
    const [from, to] = [start - prefix.length, end - prefix.length];
    const content = await this.#read({ start: Math.max(from, 0), end: Math.max(to, 0) });
    return from >= 0 ? content : Buffer.concat([prefix.subarray(start, end), content]);
  }

  async #read(range: OctetRange): Promise<Buffer> {
    if (this.#inline) return this.#inline.subarray(range.start, range.end);
    if (range.start >= range.end) return Buffer.alloc(0);
    // The checksum of a file is compared when all of it is read.
    if (range.end - range.start === this.#size)
      return await readContent(this.#account, this.#message.contentId);
    return await readRange(this.#account, this.#message.contentId, range);
  }
}

/** Returns the header with the prefix of the recipient. */
export function headerOf({ prefix, header }: Pick<StoredMessage, 'prefix' | 'header'>): Buffer {
  return prefix.length === 0 ? header : Buffer.concat([prefix, header]);
}

/** Returns the content whose octets are in the database. @throws DamagedBlobError when it is not what was stored */
function joinContent(
  account: OpenAccount,
  { header, octets, crc32: expected, contentId }: StoredMessage,
): Buffer {
  const content = Buffer.concat([header, octets ?? Buffer.alloc(0)]);
  if (crc32(content) !== expected)
    throw new DamagedBlobError(account.db.file, `content ${contentId} has other bytes than were stored`);
  return content;
}

function cut(octets: Buffer, partial: PartialRange | undefined): Buffer {
  const { start, end } = partialRange({ start: 0, end: octets.length }, partial);
  return octets.subarray(start, end);
}
