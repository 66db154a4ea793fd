/** A daemon that is killed between a dynamic update and its commit finds the record again, and makes no second one. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type DaemonProcess, startDaemonProcess, temporaryDirectory } from '../support/daemon.ts';
import { PRIMARY_KEY, startDnsPrimary } from '../support/dns-primary.ts';
import { waitUntil } from '../support/wait-until.ts';

const NAME = '_spf.mx.example.com';

test('a kill -9 between update and commit leaves a record that the next start owns', async (t) => {
  const primary = await startDnsPrimary();
  t.after(() => primary.close());
  const key = join(temporaryDirectory('key'), 'tsig.key');
  writeFileSync(key, PRIMARY_KEY);
  const dataDir = temporaryDirectory('killed');
  const start = (): Promise<DaemonProcess> =>
    startDaemonProcess({
      dataDir,
      env: {
        POSTRIDER_HOSTNAME: 'mx.example.com',
        POSTRIDER_DOMAINS_ADDRESSES: '192.0.2.1',
        POSTRIDER_DNS_UPDATE_SERVER: primary.server,
        POSTRIDER_DNS_UPDATE_KEY: key,
        POSTRIDER_DNS_UPDATE_ZONES: 'example.com',
      },
    });
  const started = Promise.withResolvers<DaemonProcess>();
  primary.onUpdate(async (names) => {
    if (!names.includes(NAME)) return undefined;
    await (await started.promise).kill('SIGKILL');
    return 'cut';
  });
  started.resolve(await start());
  await waitUntil(() => primary.texts(NAME).length > 0);

  primary.onUpdate(() => undefined);
  const next = await start();
  t.after(() => next.kill('SIGKILL'));
  const { problem, records } = (await next.cli(['dns', 'update'])) as {
    problem: string | null;
    records: { name: string; type: string; state: string }[];
  };
  assert.equal(problem, null);
  assert.equal(records.find(({ name, type }) => name === NAME && type === 'TXT')?.state, 'in_place');
  assert.equal(primary.texts(NAME).length, 1);
  assert.match(primary.texts(`_postrider.${NAME}`).join(), /^postrider-owner=\S+; type=TXT$/);
  await next.stop();
});
