/**
 * An installation in which everything that strangers and tenants can write is a payload: what the API accepts, what other machines have
 * answered, and every column of text of the database.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Id } from '../../../src/system/ids.ts';
import { newId } from '../../../src/system/ids.ts';
import { insertRow, type Row } from '../../broadcasts/fixtures.ts';
import { addReceived } from '../../inbound/fixtures.ts';
import type { Populated } from '../resources/populated.ts';
import { SANDBOX } from '../resources/resource.ts';
import { ALL_PAYLOADS, PAYLOADS, SHORT_PAYLOADS } from './payloads.ts';
import { poison } from './poison.ts';
import { type Visit, visitFull } from './visits.ts';

/** What people write in HTML and texts. The API refuses NUL, and tags of templates that it does not know. */
const CONTENT = ALL_PAYLOADS.replaceAll('\u0000', '').replace(/\{\{[^}]*\}\}/g, '');
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Fills an installation, poisons it, and returns who can see what of it. */
export async function openHostile(
  world: Populated,
): Promise<readonly [person: Visit, mailbox: Visit, nobody: Visit]> {
  const { testApp } = world;
  const contents = await storeContents(world);
  const [person, mailbox, nobody] = await visitFull(world, { modes: ['test'] });
  assert.ok(person && mailbox && nobody);
  const at = '/t/default/test';
  const find = (pattern: RegExp) => person.paths.find((path) => pattern.test(path))?.split('/')[4] ?? '';
  const sent = await addSentBroadcast(world);
  for (const [table, row] of rowsOfOthers(world, find(/\/emails\/em_\w+$/))) insertRow(testApp, table, row);
  const poisoned = poison(testApp, [ALL_PAYLOADS]);
  assert.ok(poisoned > 100, `only ${poisoned} columns were poisoned`);
  const broadcast = `${at}/broadcasts/${sent}`;
  const searches = ['HOSTILE', 'contact@rcpt.example', 'post.example', 'x:y'].map(
    (text) => `${at}/search?q=${text}`,
  );
  const others = [broadcast, `${broadcast}/recipients`, `${broadcast}/providers`, ...searches];
  const ofContents = person.paths
    .filter((path) => path.startsWith(at) && !path.includes('tpv_'))
    .map((path) =>
      path.replace(/(em|tpl|brd|in)_\w{26}/, (id, prefix: keyof typeof contents) => contents[prefix] ?? id),
    );
  const paths = [...person.paths, ...ofContents, ...others];
  return [{ ...person, paths: [...new Set(paths)] }, mailbox, nobody];
}

/** Stores mail, a template and a broadcast whose content is all payloads, and returns their ids. */
async function storeContents(
  world: Populated,
): Promise<Readonly<Record<'em' | 'tpl' | 'brd' | 'in', string>>> {
  const { owner, testApp } = world;
  const { post, nowMs } = world.wanted(owner);
  const from = `news@${SANDBOX}`;
  const content = { html: CONTENT, text: CONTENT };
  const email = {
    ...{ from, to: ['ann@rcpt.example'], subject: PAYLOADS[0], ...content, type: 'transactional' },
    attachments: SHORT_PAYLOADS.slice(0, 10).map((filename, index) => ({
      filename,
      content: PIXEL,
      contentId: `cid${index}`,
    })),
    scheduledAt: new Date(nowMs + 86_400_000).toISOString(),
  };
  const unsubscribe = '{{{unsubscribe_url}}}';
  return {
    em: (await post('/v1/emails', email)).id,
    tpl: (await post('/v1/templates', { name: 'n', subject: 's', ...content })).id,
    brd: (
      await post('/v1/broadcasts', {
        ...{ audienceId: owner.ids.aud, from, subject: PAYLOADS[0] },
        ...{ html: `${CONTENT}${unsubscribe}`, text: `${CONTENT}${unsubscribe}` },
      })
    ).id,
    in: await addReceived(testApp, { text: MESSAGE, routeIds: [owner.ids.rt] }),
  };
}

const encoded = (text: string) => `=?utf-8?b?${Buffer.from(text).toString('base64')}?=`;

/** A message whose every part is hostile. */
const MESSAGE = [
  `From: ${encoded(PAYLOADS[0] ?? '')} <eve@sender.example>`,
  `Subject: ${encoded(CONTENT)}`,
  `Message-ID: <${PAYLOADS[1]}@sender.example>`,
  `X-Other: ${PAYLOADS.slice(0, 10).join(' ')}`,
  'Content-Type: multipart/mixed; boundary=b',
  ...['', '--b', 'Content-Type: text/html; charset=utf-8', 'Content-Transfer-Encoding: base64', ''],
  Buffer.from(ALL_PAYLOADS).toString('base64'),
  ...['--b', 'Content-Type: text/plain; charset=utf-8', 'Content-Transfer-Encoding: base64', ''],
  Buffer.from(ALL_PAYLOADS).toString('base64'),
  ...['--b', `Content-Type: image/svg+xml; name*=utf-8''${encodeURIComponent(PAYLOADS[2] ?? '')}`, ''],
  '<svg xmlns="http://www.w3.org/2000/svg" onload="console.log(`HOSTILE`)"/>',
  ...['--b--', ''],
].join('\r\n');

/** Adds a broadcast that was sent, with a link that was clicked. */
async function addSentBroadcast(world: Populated): Promise<string> {
  const { owner, testApp } = world;
  const id = await world.make(owner, 'brd');
  const database = new Sqlite(join(testApp.dataDir, 'postrider.db'));
  database.prepare('UPDATE broadcastRuns SET startedAt = 1, endedAt = 2 WHERE broadcastId = ?').run(id);
  database.prepare("UPDATE broadcasts SET status = 'sent' WHERE id = ?").run(id);
  database.close();
  insertRow(testApp, 'trackedLinks', { ownerId: id, number: 0, url: 'https://shop.example/' });
  insertRow(testApp, 'broadcastLinks', {
    broadcastId: id,
    number: 0,
    clicks: 1,
    uniqueClicks: 1,
    machineClicks: 0,
  });
  insertRow(testApp, 'broadcastRecipients', {
    ...{
      broadcastId: id,
      contactId: owner.ids.ct,
      tenantId: owner.tenantId,
      address: 'contact@rcpt.example',
    },
    ...{ state: 'failed', changedAt: 0 },
  });
  return id;
}

/** Returns rows that no operation of the API writes: what other servers have said, and what the operator has set. */
function rowsOfOthers({ owner, testApp }: Populated, emailId: string): [table: string, row: Row][] {
  const { tenantId, ids } = owner;
  const now = testApp.app.clock.now();
  const made = <Prefix extends string>(prefix: Prefix): Id<Prefix> => newId(prefix, now);
  const ofMessage = { messageId: emailId, tenantId, at: now };
  const report = {
    tenantId,
    domainId: ids.dom,
    reporter: 'big.example',
    organization: 'Big',
    beginAt: 0,
    endAt: 1,
    passed: 1,
    failed: 1,
    createdAt: now,
  };
  const failures = [{ resultType: 'validation-failure', sessions: 1, receivingHost: 'mx.rcpt.example' }];
  const policies = [{ domain: 'post.example', policyType: 'sts', succeeded: 1, failed: 1, failures }];
  const records = [
    {
      sourceIp: '192.0.2.1',
      messages: 1,
      disposition: 'none',
      dkim: true,
      spf: false,
      headerFrom: 'post.example',
    },
  ];
  return [
    [
      'attempts',
      {
        id: made('att'),
        recipientId: 'rcp_x',
        ...ofMessage,
        durationMs: 1,
        outcome: 'deferred',
        phase: 'rcpt',
      },
    ],
    ['conversations', { id: made('cnv'), ...ofMessage, site: 'mx.rcpt.example', lines: '12 < 450 later' }],
    [
      'events',
      {
        id: made('evt'),
        tenantId,
        mode: 'test',
        type: 'email.bounced',
        emailId,
        data: '{"to":"x","reply":"y"}',
        createdAt: now,
        fannedOut: 1,
      },
    ],
    [
      'receivedReports',
      {
        id: made('rep'),
        ...report,
        type: 'tls',
        reportId: '1',
        details: JSON.stringify({ dmarc: null, tls: { policies } }),
      },
    ],
    [
      'receivedReports',
      {
        id: made('rep'),
        ...report,
        type: 'dmarc',
        reportId: '2',
        details: JSON.stringify({
          dmarc: { domain: 'post.example', policy: 'none', records, otherMessages: 1 },
          tls: null,
        }),
      },
    ],
    [
      'doctorFindings',
      { checkName: 'dns_records', subject: 'post.example', level: 'fail', says: 'x', advice: 'y', since: 0 },
    ],
    [
      'acmeCertificates',
      {
        name: 'links.post.example',
        tenantId,
        directory: 'https://ca.example/',
        privateKeySealed: '',
        failures: 3,
        lastErrorAt: now,
        createdAt: now,
      },
    ],
    [
      'outboundRoutes',
      {
        name: 'relay',
        domain: 'rcpt.example',
        hosts: '["relay.example"]',
        port: 25,
        tls: 'starttls',
        isPrivate: 0,
        createdAt: now,
        updatedAt: now,
      },
    ],
    [
      'queueActions',
      {
        id: made('qa'),
        verb: 'hold',
        emailId,
        createdAt: now,
        matched: 1,
        queueCursor: '',
        messageCursor: '',
        isInForce: 1,
      },
    ],
    ['simulatorReplies', { tenantId, code: 550, text: 'x', recipients: 'all', updatedAt: now }],
    ['brandings', { tenantId, updatedAt: now }],
    ['mailboxImportErrors', { importId: ids.mim, folder: 'INBOX', uid: 1, message: 'x' }],
    ['tasks', { kind: 'webhook', reference: 'whd_x', queueKey: 'x' }],
  ];
}
