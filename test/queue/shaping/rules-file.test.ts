/** The delivery part reads the back-off rules again when their file changes, and keeps those before a file with a mistake. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { createDelivery } from '../../../src/queue/delivery.ts';
import { createLog } from '../../../src/system/log.ts';
import { closeAfterTests } from '../../support/close-after.ts';
import { acceptEverything, startCommandServer } from '../../support/command-server.ts';
import type { Hosts } from '../../support/loopback.ts';
import { noReceiver } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { openRoutedSpool } from '../routed-spool.ts';

/** Two checks of the file: it is read at the second one that sees the change. */
const CHECKS_MS = 20_000;
const folder = mkdtempSync(join(tmpdir(), 'back-off-'));
after(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'rules.yaml');
const closing = closeAfterTests();

const ruleFor = (hours: number) =>
  `rules: [{ id: later, text: later please, matches: 1, within: 1h, on: site, rest: true, for: ${hours}h, source: a test }]`;

test('rules are read again when their file changes, and a mistake leaves those before', async () => {
  writeFileSync(file, ruleFor(1));
  const hosts: Hosts = {};
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const env = { POSTRIDER_DELIVERY_BACK_OFF_FILE: file };
  const spool = closing(await openRoutedSpool(hosts, undefined, env, { log }));
  const server = await startCommandServer((line) =>
    line.startsWith('RCPT') ? '450 4.2.0 later please' : acceptEverything(line),
  );
  hosts['192.0.2.1'] = closing(server).port;
  const delivery = createDelivery(spool.app, { inThreads: false });
  await delivery.start();
  await delivery.begin(noReceiver);
  const restOf = async (name: string) => {
    spool.addZone(`${name} A 192.0.2.1`);
    const begunAt = spool.clock.now();
    await spool.accept(`bob@${name}`);
    let until: number | undefined;
    await waitUntil(async () => {
      const [site] = await delivery.sites.explainSites({ name, siteOfDomain: undefined });
      until = site?.restrictions[0]?.until;
      return until !== undefined;
    });
    return ((until ?? 0) - begunAt) / 3_600_000;
  };
  assert.equal(await restOf('one.example'), 1);
  writeFileSync(file, ruleFor(2).padEnd(300));
  await spool.clock.advance(CHECKS_MS);
  assert.equal(await restOf('two.example'), 2);
  writeFileSync(file, 'rules: [{ id: broken }]');
  await spool.clock.advance(CHECKS_MS);
  assert.equal(await restOf('three.example'), 2);
  assert.ok(lines.some((line) => line.includes('back-off rules cannot be used') && line.includes(file)));
  await delivery.stop(0);
});
