/**
 * Measures how much the database and the files of messages grow for each email that is accepted and delivered, with its
 * events and indexes, against the size of the message that the sink receives. The HTML is given and the text is
 * generated. The rows have an HTML of 2 KB, of 50 KB and of 1 MB.
 */
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { ask, type Postrider, startPostrider } from './daemon.ts';
import { openDatabase } from './database.ts';
import { RECIPIENT_DOMAIN, SENDER } from './message.ts';
import { watchMemory } from './process-tree.ts';
import { until } from './program.ts';
import type { Group, Measure } from './row.ts';
import type { Workspace } from './workspace.ts';

const SIZES = [
  { html: 2_000, emails: 300, aim: 'at most 6 KB' },
  { html: 50_000, emails: 300, aim: 'at most 1.15 times the message' },
  { html: 1_000_000, emails: 100, aim: 'at most 1.15 times the message' },
] as const;
/** Number of emails that are sent at the same time. */
const SENDERS = 4;
const TIMEOUT_MS = 60_000;
const WORDS =
  'order shipment warehouse invoice parcel delivery tomorrow customer account thank you please find details below support team street number total price item quantity'.split(
    ' ',
  );

export const disk: Group = {
  name: 'disk',
  async prepare(workspace) {
    return {
      rows: SIZES.map((size) => ({
        name: `Disk for each delivered email, HTML of ${size.html / 1_000} KB`,
        unit: 'bytes',
        aim: size.aim,
        measure: () => measureDisk(workspace, size),
      })),
    };
  },
};

async function measureDisk(
  workspace: Workspace,
  { html, emails }: Pick<(typeof SIZES)[number], 'html' | 'emails'>,
): Promise<Measure> {
  await using sink = await startSmtpSink({ keepRaw: true });
  const dataDir = workspace.newFolder('disk');
  await using postrider = await startPostrider({ dataDir, smtpPort: sink.port });
  using database = openDatabase(dataDir);
  const pageBytes = database.prepare<[], number>('SELECT sum(pgsize) FROM dbstat').pluck();
  const usedBytes = () => (pageBytes.get() ?? 0) + messageFileBytes(dataDir);
  using memory = watchMemory(postrider.daemon.pid);
  const before = usedBytes();
  const startedAt = performance.now();
  let sent = 0;
  const sendAll = async () => {
    while (sent < emails) await send(postrider, sent++, html);
  };
  await Promise.all(Array.from({ length: SENDERS }, sendAll));
  const acceptMs = (performance.now() - startedAt) / emails;
  const delivered = database
    .prepare<[], number>("SELECT count(*) FROM messages WHERE status = 'delivered'")
    .pluck();
  await until('all messages are delivered', TIMEOUT_MS, async () => delivered.get() === emails);
  const figure = (usedBytes() - before) / emails;
  const sentBytes = sink.messages.reduce((sum, { raw }) => sum + (raw?.length ?? 0), 0) / emails;
  const details = {
    'bytes of the message': sentBytes,
    'of its size': figure / sentBytes,
    'ms to accept one': acceptMs,
    'ms to deliver one': (performance.now() - startedAt) / emails,
    'at peak, MiB RSS': memory.peakMiB(),
  };
  return { figure, details };
}

/** Returns the size of the files that messages are stored in. Files for messages on their way are in `partial`. */
function messageFileBytes(dataDir: string): number {
  const files = globSync(join(dataDir, 'blobs', '[0-9a-f][0-9a-f]', '*'));
  return files.reduce((sum, file) => sum + statSync(file).size, 0);
}

async function send({ daemon, sender }: Postrider, index: number, htmlBytes: number): Promise<void> {
  const body = {
    from: SENDER,
    to: `r${index}@${RECIPIENT_DOMAIN}`,
    subject: 'Your order is on its way',
    html: pageOf(htmlBytes, index),
    tags: { kind: 'shipping' },
    type: 'transactional',
  };
  await ask(daemon, ['POST', '/v1/emails', sender.key], body);
}

/** Returns a page of this size. No two pages have the same words. */
function pageOf(bytes: number, seed: number): string {
  let state = seed + 1;
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((state / 0x80000000) * below);
  };
  let html = '<!doctype html><html><body>\n';
  while (html.length < bytes) {
    const words = Array.from({ length: 12 }, () => WORDS[random(WORDS.length)]);
    html += `<p style="margin:0 0 12px">${words.join(' ')} ${random(1_000_000)}</p>\n`;
  }
  return `${html}</body></html>\n`;
}
