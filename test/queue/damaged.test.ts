/** Mail whose stored bytes have changed. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { NO_REPORT, verdictForAll } from '../../src/queue/outcome/outcome.ts';
import { dialLoopback } from '../support/loopback.ts';
import { act } from '../support/queue-action.ts';
import { recordLog } from '../support/record-log.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { attemptWith, deliverBy, openSpool } from '../support/spool.ts';

/** A file larger than the limit for inline storage. */
const FILE = { filename: 'data.bin', content: Buffer.alloc(400_000, 7).toString('base64') };
const HELD =
  'The stored message is damaged and is not delivered; an operator can release it once it is restored';

const { log, lines } = recordLog('error');
const sink = await startSmtpSink({ keepRaw: true });
const spool = await openSpool({
  smtpPort: sink.port,
  env: { POSTRIDER_OUTBOUND_ALLOW_TARGETS: '127.0.0.0/8' },
  system: { dial: dialLoopback, log },
});
after(async () => {
  await spool.close();
  await sink.close();
});
spool.addZone('rcpt.example A 127.0.0.1');

function files(): string[] {
  return readdirSync(spool.dataDir, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Accepts an email with a file. Answers its id, and where the bytes of the file are. */
async function acceptWithFile() {
  const known = files();
  const id = await spool.accept('bob@rcpt.example', { attachments: [FILE] });
  const path = files().find((file) => !known.includes(file)) ?? '';
  return { id, path, whole: readFileSync(path) };
}

/** Writes the bytes back, as an operator would, and delivers the email. */
async function restore({ id, path, whole }: Awaited<ReturnType<typeof acceptWithFile>>): Promise<void> {
  writeFileSync(path, whole);
  await act(spool.app, 'release', { emailId: id });
  await spool.deliverDue();
  assert.equal((await spool.email(id)).status, 'delivered');
}

const damages: Record<string, (path: string) => void> = {
  'holds other bytes': (path) => {
    const bytes = readFileSync(path);
    bytes[bytes.length - 5] = 0x41;
    writeFileSync(path, bytes);
  },
  'holds bare LFs': (path) => {
    const bytes = readFileSync(path);
    bytes.write('From a\n.\ntext file\n', 200_000);
    writeFileSync(path, bytes);
  },
  'lost its end': (path) => truncateSync(path, 1_000),
  'is missing': (path) => renameSync(path, join(spool.dataDir, 'elsewhere')),
};

for (const [damage, begin] of Object.entries(damages)) {
  test(`mail whose file ${damage} is not delivered but held, and delivered once it is restored`, async () => {
    const before = sink.messages.length;
    const beside = await spool.accept('ann@rcpt.example');
    const { id, path, whole } = await acceptWithFile();
    begin(path);
    await spool.deliverDue();
    const { status, recipients } = await spool.email(id);
    assert.deepEqual([status, recipients[0].status, recipients[0].diagnostic], ['sent', 'held', HELD]);
    assert.equal((await spool.email(beside)).status, 'delivered');
    assert.equal(sink.messages.length, before + 1, 'the receiver saw no final dot');
    const line = lines.find(({ emailId }) => emailId === id);
    assert.deepEqual([line?.msg, line?.['location']], ['a stored message is damaged', path]);
    await restore({ id, path, whole });
    const raw = sink.messages.at(-1)?.raw;
    assert.ok(raw?.subarray(-whole.length).equals(whole), 'what is delivered is what was stored');
  });
}

test('a signature made over a damaged header is dropped with the hold, and restored mail is signed anew', async () => {
  const { id, path, whole } = await acceptWithFile();
  damages['holds other bytes']?.(path);
  const signature = 'DKIM-Signature: of the damaged header\r\n';
  const refused = { ...NO_REPORT, phase: 'rcpt', text: '450 later' } as const;
  for (const claimed of await spool.claim()) {
    const verdicts = verdictForAll(claimed, { kind: 'deferred', report: refused });
    await deliverBy(spool.app, claimed, async () => attemptWith(verdicts, signature));
  }
  await spool.clock.advance(3_600_000);
  await spool.deliverDue();
  assert.equal((await spool.recipient(id)).status, 'held');
  await restore({ id, path, whole });
  const start = sink.messages.at(-1)?.raw?.subarray(0, -whole.length).toString() ?? '';
  assert.match(start, /^DKIM-Signature: v=1;/);
});
