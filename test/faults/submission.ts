/**
 * One request of the load: what it asks for, and what must become of it. Everything about it follows from its name, so
 * that a repeated request has the same body, and the far end can tell whether every byte arrived.
 */
import { createHash } from 'node:crypto';
import type { SeededRandom } from './seeded-random.ts';

/** `local`: to an address that the daemon itself receives for. */
export type Kind = 'text' | 'html' | 'attached' | 'scheduled' | 'file' | 'local';

/** How often each kind is sent, in proportion to the others. */
export type Mix = Readonly<Record<Kind, number>>;

export const MIXED: Mix = { text: 7, html: 5, attached: 4, scheduled: 3, file: 1, local: 0 };

export type Submission = {
  idempotencyKey: string;
  /** One recipient each, and each its own: the far end can tell submissions apart. */
  recipient: string;
  kind: Kind;
  /** Epoch milliseconds; of scheduled ones. */
  scheduledAtMs: number | undefined;
  /** `asked`: no answer was read; the API says in the end which it is. `refused`: it was too late. */
  cancellation: 'none' | 'planned' | 'asked' | 'confirmed' | 'refused';
  /** Ids the daemon answered with 200, in order; more than one when an answered request was repeated. */
  answeredIds: string[];
};

/** Above what `blobs/` keeps in the database (256 KiB). */
const FILE_BYTES = 300 * 1024;
const SMALL_FILE_BYTES = 3_000;
const PICTURE_BYTES = 2_000;
/** The API sends an email at once when its `scheduledAt` is at most this far ahead. */
export const SOON_MS = 10_000;
const SCHEDULED_AHEAD_MS = { low: SOON_MS + 2_000, high: SOON_MS + 5_000 };
const CANCELED_SHARE = 0.5;
/** A prime number of bytes: a block of a file that lands in another block's place does not look the same. */
const PATTERN_BYTES = 31;

const TEXT = 'A short message, such as most are.\n'.repeat(20);
const HTML = '<p>A short message, <b>such as most are</b>.</p>';

export function createSubmission(
  random: SeededRandom,
  mix: Mix,
  { idempotencyKey, addressOf }: Pick<Submission, 'idempotencyKey'> & { addressOf: (kind: Kind) => string },
): Submission {
  const kind = chooseKind(random, mix);
  const isScheduled = kind === 'scheduled';
  const aheadMs = random.between(SCHEDULED_AHEAD_MS.low, SCHEDULED_AHEAD_MS.high);
  return {
    idempotencyKey,
    recipient: addressOf(kind),
    kind,
    scheduledAtMs: isScheduled ? Date.now() + Math.round(aheadMs) : undefined,
    cancellation: isScheduled && random.share() < CANCELED_SHARE ? 'planned' : 'none',
    answeredIds: [],
  };
}

function chooseKind(random: SeededRandom, mix: Mix): Kind {
  const kinds = Object.entries(mix) as [Kind, number][];
  let rest = random.share() * kinds.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [kind, weight] of kinds) {
    rest -= weight;
    if (rest < 0) return kind;
  }
  return 'text';
}

/** The body of its request. */
export function bodyOf(submission: Submission, from: string): Record<string, unknown> {
  const { recipient, idempotencyKey, scheduledAtMs } = submission;
  return {
    from,
    to: [recipient],
    subject: `Fault test ${idempotencyKey}`,
    type: 'transactional',
    ...contentOf(submission.kind),
    attachments: attachmentsOf(submission).map(({ bytes, ...named }) => ({
      ...named,
      content: bytes.toString('base64'),
    })),
    ...(scheduledAtMs === undefined ? {} : { scheduledAt: new Date(scheduledAtMs).toISOString() }),
  };
}

function contentOf(kind: Kind): { text?: string; html?: string } {
  switch (kind) {
    case 'text':
    case 'scheduled':
    case 'file':
    case 'local':
      return { text: TEXT };
    case 'html':
      return { text: TEXT, html: HTML };
    // Its text is made by the daemon.
    case 'attached':
      return { html: `${HTML}<img src="cid:picture@faults.test" alt="A picture">` };
  }
}

/** Whether an email is shown with the texts of its submission. A text that the daemon makes is never empty. */
export function showsTexts({ kind }: Submission, shown: unknown): boolean {
  const { text: sentText, html: sentHtml } = contentOf(kind);
  const { text, html } = shown as { text: unknown; html: unknown };
  const isText = sentText === undefined ? typeof text === 'string' && text !== '' : text === sentText;
  return isText && html === (sentHtml ?? null);
}

type AttachedFile = { filename: string; contentType: string; contentId?: string; bytes: Buffer };

function attachmentsOf({ kind, idempotencyKey }: Submission): AttachedFile[] {
  const bytes = (name: string, length: number) => bytesOf(`${idempotencyKey}/${name}`, length);
  const octets = 'application/octet-stream';
  switch (kind) {
    case 'text':
    case 'html':
    case 'scheduled':
    case 'local':
      return [];
    case 'attached':
      return [
        { filename: 'small.bin', contentType: octets, bytes: bytes('small', SMALL_FILE_BYTES) },
        {
          filename: 'picture.png',
          contentType: 'image/png',
          contentId: 'picture@faults.test',
          bytes: bytes('picture', PICTURE_BYTES),
        },
      ];
    case 'file':
      return [{ filename: 'large.bin', contentType: octets, bytes: bytes('large', FILE_BYTES) }];
  }
}

/** Different for each name: equal bytes would share one file. */
function bytesOf(name: string, length: number): Buffer {
  const pattern = createHash('sha256').update(name).digest().subarray(0, PATTERN_BYTES);
  return Buffer.alloc(length, pattern);
}

const hash = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** SHA-256 of each file it carries, sorted. */
export function expectedAttachments(submission: Submission): string[] {
  return attachmentsOf(submission)
    .map(({ bytes }) => hash(bytes))
    .sort();
}

/** The same of a message as it arrived: of every part that is in base64 and names a file. */
export function attachmentsIn(message: Buffer): string[] {
  const text = message.toString('latin1');
  const hashes: string[] = [];
  for (const [, boundary = ''] of text.matchAll(/boundary="?([^"\r\n;]+)/gi)) {
    for (const part of text.split(`--${boundary}\r\n`).slice(1)) {
      const end = part.indexOf('\r\n\r\n');
      const header = part.slice(0, Math.max(end, 0));
      if (!/^content-transfer-encoding:\s*base64/im.test(header) || !/filename/i.test(header)) continue;
      const [encoded = ''] = part.slice(end).split('\r\n--');
      hashes.push(hash(Buffer.from(encoded, 'base64')));
    }
  }
  return hashes.sort();
}

/** Whether every file it was sent with is in the message, byte for byte, and none besides. */
export function carriesItsFiles(submission: Submission, message: Buffer): boolean {
  return expectedAttachments(submission).join() === attachmentsIn(message).join();
}

/** Whether it must arrive at the far end: whatever goes there and was not called back. */
export function mustArrive({ kind, cancellation }: Submission): boolean {
  return kind !== 'local' && cancellation !== 'confirmed' && cancellation !== 'asked';
}

export function firstId(submission: Submission): string {
  return submission.answeredIds[0] ?? '';
}
