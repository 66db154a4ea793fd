/** Puts a message together whose header a script has edited (RFC 5293). */
import type { MailboxRow } from '../../../db/mailbox-tables.ts';
import { readFieldLines } from '../../../mail/message/header-block.ts';
import { ConcurrencyLimiter } from '../../../system/concurrency-limiter.ts';
import type { ScriptedMessage } from './delivery.ts';

/** Size from which a message counts as large: as many smaller ones as are delivered at the same time take 32 MiB. Our own limit. */
const LARGE_BYTES = 1024 * 1024;
/** Maximum number of large messages that are held whole at the same time, each of them up to twice. Our own limit. */
const MAX_LARGE = 2;

const large = new ConcurrencyLimiter({ maxRunning: MAX_LARGE, perFree: 1 });

/** Calls `use` with the message with this header, which ends with its empty line. Only some large messages are held at a time. */
export async function withEdited<Result>(
  delivery: Pick<ScriptedMessage, 'content' | 'header'> & { mailbox: Pick<MailboxRow, 'tenantId'> },
  edited: Buffer,
  use: (message: Buffer) => Promise<Result>,
): Promise<Result> {
  const run = async () => await use(await editedMessage(delivery, edited));
  if (delivery.content.sizeBytes < LARGE_BYTES) return await run();
  return await large.run(run, { owner: delivery.mailbox.tenantId });
}

async function editedMessage(
  { content, header }: Pick<ScriptedMessage, 'content' | 'header'>,
  edited: Buffer,
): Promise<Buffer> {
  const pieces: Buffer[] = [edited];
  let skippedBytes = header.length;
  for await (const chunk of content.chunks()) {
    pieces.push(chunk.subarray(Math.min(skippedBytes, chunk.length)));
    skippedBytes = Math.max(0, skippedBytes - chunk.length);
  }
  return Buffer.concat(pieces);
}

/** Fields of which a message has one (RFC 5322 section 3.6), and that say who wrote it. Where there are two, programs show different ones. */
const ORIGIN = ['date', 'from', 'message-id', 'sender'];

/** Returns true when an edited header names its origin more often than the one that was received. */
export function repeatsOrigin(edited: Buffer, received: Buffer): boolean {
  const [now, before] = [countNames(edited), countNames(received)];
  return ORIGIN.some((name) => (now.get(name) ?? 0) > Math.max(before.get(name) ?? 0, 1));
}

function countNames(header: Buffer): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name } of readFieldLines(header, { start: 0, end: header.length }))
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/**
 * Returns an edited header without the fields that were added when the message was received. A script cannot change them, but other
 * fields may stand between them.
 */
export function withoutPrefix(edited: Buffer, prefix: string): Buffer {
  const added = linesOf(Buffer.from(prefix));
  const kept = linesOf(edited).filter((lines) => {
    const index = added.findIndex((other) => other.equals(lines));
    if (index >= 0) added.splice(index, 1);
    return index < 0;
  });
  return Buffer.concat(kept);
}

function linesOf(header: Buffer): Buffer[] {
  return Array.from(readFieldLines(header, { start: 0, end: header.length }), ({ start, end }) =>
    header.subarray(start, end),
  );
}
