import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTrial } from '../../src/queue/held/trial.ts';
import { recoverQueue } from '../../src/queue/worker.ts';
import { deliveryAppOf, openSpool, SENDER_DOMAIN, type Spool } from '../support/spool.ts';

const OURS = 'bounce.mx.postrider.example';
const OPERATOR = `${OURS} TXT "v=spf1 ip4:192.0.2.1 -all"`;

let spool: Spool;
let start = 0;

before(async () => {
  spool = await openSpool();
});
after(() => spool.close());

/** Returns the envelope senders of all mail that is due. A new start claims each, and a crash puts it back. */
async function returnPaths(): Promise<string[]> {
  await spool.clock.advance(10_000);
  start += 1;
  // Two crashes make a suspect, which waits for its trial.
  await spool.app.db.commit(startTrial, { now: spool.clock.now() });
  const { prepare } = deliveryAppOf(spool.app);
  const claimed = await spool.claim(`start ${start}`);
  const prepared = await Promise.all(claimed.map((claim) => prepare(claim)));
  await recoverQueue({ ...spool.app, runId: `start ${start + 1}` });
  return prepared.map(({ returnPath }) => returnPath);
}

async function verify(): Promise<void> {
  const { body } = await spool.request('GET', '/v1/domains', { key: spool.liveKey });
  for (const { id } of body.data) {
    await spool.request('POST', `/v1/domains/${id}/verify`, { key: spool.liveKey });
  }
}

test('mail is sent with the return path of its domain while that is verified, and with ours before and after', async () => {
  await spool.accept('bob@rcpt.example');
  const [plain = ''] = await returnPaths();
  assert.match(plain, /^b\+[0-9a-f]{32}@bounce\.mx\.postrider\.example$/);
  const token = plain.slice(0, plain.indexOf('@'));

  spool.addZone(`${OPERATOR}\nbounce.${SENDER_DOMAIN} CNAME ${OURS}`);
  assert.deepEqual(await returnPaths(), [plain], 'published, but not seen yet');
  await verify();
  assert.deepEqual(await returnPaths(), [`${token}@bounce.${SENDER_DOMAIN}`]);

  // All records disappear: the others have a grace period of 72 hours, a return path has none.
  spool.dns.setZone('');
  await verify();
  assert.deepEqual(await returnPaths(), [plain]);
});
