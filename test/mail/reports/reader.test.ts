import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createReportReader } from '../../../src/mail/reports/reader.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { recordLog } from '../../support/record-log.ts';
import { DMARC_XML, gzipped } from './fixtures.ts';

const { log } = recordLog('warn');
const reader = createReportReader({ clock: createFakeClock(0), log });
after(() => reader.close());

const read = (message: string) => reader.read(new Uint8Array(Buffer.from(message, 'latin1')), 'big.example');

test('reports are read in a thread', async () => {
  const reading = await read(gzipped(DMARC_XML));
  assert.ok(reading.kind === 'report');
  assert.equal(reading.report.reportId, '17995');
  assert.deepEqual(await read('Subject: x\r\n\r\nHi\r\n'), { kind: 'unreadable' });
});

test('a report that comes after the reader was closed waits for the next run', async () => {
  await reader.close();
  assert.deepEqual(await read(gzipped(DMARC_XML)), { kind: 'busy' });
});
