import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readReport } from '../../../src/mail/reports/read.ts';
import { createReportKind } from '../../../src/mail-reports/reports/work.ts';
import { openMailWorld, PASS, sendMail } from '../../inbound/mail-world.ts';
import { DMARC_XML, gzipped, recordOf } from '../../mail/reports/fixtures.ts';
import { runDueTasks } from '../../support/tasks.ts';

const world = await openMailWorld();
const kind = createReportKind({
  ...world.app,
  reportReader: {
    async read(message) {
      const report = readReport(message);
      return report ? { kind: 'report', report } : { kind: 'unreadable' };
    },
  },
});
await world.addDomain('shop.example');
world.knobs.result = { ...PASS, dmarc: { ...PASS.dmarc, domain: 'big.example' } };
const ID = '1'.padStart(26, '0');

/** Sends a report about the domain, and returns it as the API shows it. */
async function report(xml: string) {
  const client = await world.open();
  const to = `reports+${ID}@mx.postrider.example`;
  assert.match(await sendMail(client, { from: 'noreply@big.example', to, message: gzipped(xml) }), /^250/);
  client.socket.destroy();
  await world.clock.advance(100);
  await runDueTasks(world.app, kind);
  const { body } = await world.test.request('GET', `/v1/domains/dom_${ID}/reports`, {
    key: world.test.liveKey,
  });
  return body.data[0];
}

test('the API and the log say what of a report could not be read', async () => {
  const odd =
    recordOf('192.0.2.256', 5) + recordOf('203.0.113.9', 4, undefined, 'a.shop.example, shop.example');
  const shown = await report(DMARC_XML.replace('</feedback>', `${odd}</feedback>`));
  assert.deepEqual(shown.leftOut, { records: 1, messages: 5 });
  const authors = shown.dmarc.records.map(({ headerFrom }: { headerFrom: string }) => headerFrom);
  assert.deepEqual(authors, ['shop.example', 'a.shop.example', 'news.shop.example']);
  const line = world.lines.find(({ msg }) => msg === 'a part of a report could not be read');
  assert.deepEqual([line?.['reportId'], line?.['leftOut']], ['17995', { records: 1, messages: 5 }]);
});

test('a report of which no record could be read is listed, so that its owner sees it', async () => {
  const none = DMARC_XML.replace('17995', 'none').replace(/<record>[\s\S]*<.record>/, recordOf('?', 7));
  const { reportId, passed, failed, leftOut } = await report(none);
  assert.deepEqual([reportId, passed, failed, leftOut], ['none', 0, 0, { records: 1, messages: 7 }]);
});
