/** The tests of the examples in README.md and docs/, with the real programs or what stands in for them. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { findDifference } from './documented.ts';
import { openSession, type Ran, type Session } from './examples.ts';
import { type Block, findBlocks, PAGES } from './page.ts';

/**
 * Headings whose `console` blocks are not run: they stay in the foreground, take minutes, or need root and systemd or another server.
 * Every other command of the documents is in an `sh` block, and is run.
 */
const NOT_RUN = [
  'README.md: Start',
  'README.md: Development',
  'docs/agents.md: Connect an agent',
  'docs/backup.md: Back up',
  'docs/backup.md: Copy backups off the host',
  'docs/backup.md: Encrypt backups',
  'docs/backup.md: Who made a backup',
  'docs/backup.md: Back up with other tools',
  'docs/backup.md: Restore',
  'docs/backup.md: Restore with other tools',
  'docs/certificates.md: certbot',
  'docs/certificates.md: acme.sh',
  // The suites of the client libraries run these.
  'js',
  'python',
  'go',
  'php',
  'docs/install.md: Install for production',
  'docs/install.md: Debian package',
  'docs/install.md: Tarball',
  'docs/install.md: Container',
  'docs/mailbox-api.md: Keys of a mailbox',
  'docs/mailbox-api.md: Read',
  'docs/mailbox-api.md: Mark and move',
  'docs/mailbox-api.md: Write and send',
  'docs/mailboxes.md: Move in from another server',
  'docs/relays.md: Find out whether port 25 is open',
  'docs/relays.md: Send all mail through a relay',
  'docs/standby.md: Another host',
  'docs/standby.md: On the primary',
  'docs/standby.md: Follow',
  'docs/standby.md: Promote',
  'docs/standby.md: Go back in time',
  'docs/systemd.md: Run Postrider with systemd',
  'docs/systemd.md: Receive or follow a primary',
  'docs/systemd.md: Write elsewhere',
  'docs/unsubscribing.md: Your name, colours and logo',
  'docs/upgrade.md: Install a new version',
  'docs/upgrade.md: See beforehand how long it takes',
];

/** Every request that the examples make, in their order, with its status. */
const ANSWERS = `
README.md: The first email
  POST /emails 200
  GET /emails/em_ 200
docs/api.md: Test mode and the simulator
  PUT /simulator/reply 200
  DELETE /simulator/reply 204
docs/api.md: Recipients, tags and state
  POST /emails 200
  GET /emails/em_ 200
docs/api.md: Source and check of an email
  POST /emails 200
  GET /emails/em_/raw 200
  GET /emails/em_/check 200
docs/api.md: Lists and pages
  GET /emails 200
  GET /emails 200
docs/api.md: Batches
  POST /emails/batch 200
docs/api.md: Attachments
  POST /emails 200
  GET /emails/em_ 200
  POST /emails 200
docs/api.md: Invitations and AMP
  POST /emails 200
  GET /emails/em_ 200
docs/api.md: Scheduling and cancelling
  POST /emails 200
  PATCH /emails/em_ 200
  POST /emails/em_/cancel 200
docs/api.md: Idempotency
  POST /emails 200
  POST /emails 200
docs/api.md: Suppressions
  POST /suppressions 201
  GET /suppressions 200
  DELETE /suppressions/gone@example.com 204
  POST /suppressions/imports 200
docs/api.md: API keys and plans
  POST /api-keys 201
  DELETE /api-keys/key_ 204
  GET /plan 200
docs/api.md: Request log
  GET /emails/em_unknown 404
  GET /request-log 200
docs/api.md: Approvals
  POST /api-keys 201
  POST /emails 200
  GET /approvals 200
  GET /approvals 200
  POST /emails/em_/approve 200
docs/api.md: Errors
  POST /emails 400
docs/broadcasts.md: Prepare
  POST /audiences 201
  POST /audiences/aud_/contacts/imports 202
  GET /imports/imp_ 200
  POST /topics 201
  POST /segments 201
  POST /templates 201
docs/broadcasts.md: Create a draft
  POST /broadcasts 201
docs/broadcasts.md: Check it before it leaves
  GET /broadcasts/brd_/preflight 200
  GET /broadcasts/brd_/preview 200
  POST /broadcasts/brd_/test 200
docs/broadcasts.md: Schedule and send
  PATCH /broadcasts/brd_ 200
  POST /broadcasts/brd_/send 200
docs/broadcasts.md: Pause, resume and pace
  POST /broadcasts/brd_/pause 200
  PATCH /broadcasts/brd_ 200
  POST /broadcasts/brd_/resume 200
  GET /broadcasts/brd_ 200
docs/broadcasts.md: Who got it
  GET /broadcasts/brd_/recipients 200
  GET /broadcasts/brd_/providers 200
  POST /broadcasts/brd_/recipients/exports 202
  GET /exports/exp_ 200
  GET /exports/exp_/file 200
  GET /broadcasts/brd_/clicked-links 200
docs/broadcasts.md: Send again to those who missed it
  POST /segments 201
  GET /segments/seg_ 200
docs/client-libraries.md: The same email in five ways
  POST /emails 200
docs/dns.md: Add a sending domain
  POST /domains 201
  POST /domains/dom_/verify 200
  PATCH /domains/dom_ 200
  DELETE /domains/dom_ 204
docs/dns.md: Sign with Ed25519 too
  POST /domains 201
docs/dns.md: Rotate the DKIM keys
  POST /domains/dom_/rotate-dkim 200
docs/double-opt-in.md: Set the sender
  POST /audiences 201
docs/double-opt-in.md: Add a pending contact
  POST /audiences/aud_/contacts 201
docs/inbound.md: Try it without a domain
  POST /inbound/routes 201
docs/inbound.md: Receive the posts
  POST /inbound/routes/rt_/test 200
docs/inbound.md: Look up messages, and post them again
  GET /inbound/messages 200
docs/mailboxes.md: Try it without a domain
  POST /mailboxes 201
docs/mailboxes.md: Further addresses
  PATCH /mailboxes/mbx_ 200
docs/mailboxes.md: App passwords
  POST /mailboxes/mbx_/app-passwords 201
docs/mailboxes.md: Forgotten passwords
  GET /mailboxes/mbx_/recovery-address 200
docs/mailboxes.md: Sessions of mail programs
  POST /mailboxes/mbx_/sessions/end 200
docs/mailboxes.md: Change, suspend and delete
  PATCH /mailboxes/mbx_ 200
  DELETE /mailboxes/mbx_ 204
docs/metrics.md: Metrics of your mail
  GET /metrics 200
docs/metrics.md: Time, filters and groups
  GET /metrics 200
docs/metrics.md: Tags
  GET /metrics 200
docs/moving.md: Bring suppressions
  POST /suppressions/imports 200
  POST /suppressions/imports 202
docs/moving.md: Bring contacts
  POST /audiences 201
  POST /audiences/aud_/contacts/imports 200
docs/moving.md: Resend
  POST /emails 200
docs/moving.md: Postal
  POST /suppressions/imports 200
docs/operations.md: Metrics
  GET /metrics 200
docs/templates-and-contacts.md: Templates
  POST /templates 201
  POST /emails 200
  GET /emails/em_ 200
  POST /templates 201
  PATCH /templates/tpl_ 200
docs/templates-and-contacts.md: Preview
  POST /templates/preview 200
docs/templates-and-contacts.md: Versions
  GET /templates/tpl_/versions 200
docs/templates-and-contacts.md: Topics
  POST /topics 201
  POST /emails 200
docs/templates-and-contacts.md: Audiences and contacts
  POST /audiences 201
  POST /audiences/aud_/contacts 201
  PATCH /audiences/aud_/contacts/ann@example.com 200
docs/templates-and-contacts.md: Imports and exports
  POST /audiences/aud_/contacts/imports 202
  GET /imports/imp_ 200
  GET /imports/imp_/errors 200
  POST /audiences/aud_/contacts/exports 202
  GET /exports/exp_ 200
  GET /exports/exp_/file 200
docs/templates-and-contacts.md: Exports of other products
  POST /audiences/aud_/contacts/imports 200
  POST /audiences/aud_/contacts/imports 202
docs/templates-and-contacts.md: Segments
  POST /segments 201
  GET /segments/seg_/contacts 200
  GET /segments/seg_ 200
docs/tracking.md: Tracking opens and clicks
  POST /domains 201
  PATCH /domains/dom_ 200
docs/tracking.md: Where the links lead
  PATCH /domains/dom_ 200
docs/unsubscribing.md: Your name, colours and logo
  PUT /branding 200
docs/webhooks.md: Create an endpoint
  POST /webhooks 201
  POST /webhooks/wh_/test 200
  PATCH /webhooks/wh_ 200
docs/webhooks.md: Log and replay
  GET /webhooks/wh_/deliveries 200
  POST /webhooks/wh_/replay 202
docs/webhooks.md: Rotate the secret, or disable the endpoint
  POST /webhooks/wh_/rotate-secret 200
  PATCH /webhooks/wh_ 200
`;

/** Time within which a resource reaches the state that a page shows. Only a failing example takes so long. */
const MOMENT_MS = 60_000;
const POLL_MS = 20;

export function testExamples(programs: 'real' | 'stand-in'): void {
  const ran: Ran[] = [];
  /** Where answers differ from the documented ones. */
  const differences: string[] = [];

  before(async () => {
    const session = await openSession({ programs });
    try {
      for (const page of PAGES) {
        for (const block of findBlocks(page.text)) {
          const last = ran.at(-1);
          if (block.language === 'sh') ran.push(await session.run(page, block));
          else if (block.language === 'json' && last)
            differences.push(...(await compare(session, last, block)));
        }
      }
    } finally {
      await session.close();
    }
  });

  /** Returns the requests of the examples under a heading, such as `docs/api.md: Batches`. */
  const under = (place: string) =>
    ran.filter((example) => placeOf(example) === place).flatMap(({ exchanges }) => exchanges);

  test('every example runs, and each of its requests is answered as it should be', () => {
    for (const { page, block, code, output } of ran) {
      const line = `${page}:${block.line}`;
      assert.equal(code, 0, `${line}\n${output}`);
      assert.doesNotMatch(output, /not found$|No such file|^curl: |error: /m, line);
    }
    assert.equal(transcript(ran), ANSWERS.trim());
  });

  test('commands that are not run stand only where they cannot be', () => {
    const shown = PAGES.flatMap(({ path, text }) =>
      findBlocks(text)
        .filter(({ language }) => !['sh', 'json', 'text'].includes(language))
        .map(({ language, heading }) => (language === 'console' ? `${path}: ${heading}` : language)),
    );
    assert.deepEqual([...new Set(shown)], NOT_RUN);
  });

  test('every answer that is shown is the one that comes', () => {
    assert.deepEqual(differences, []);
  });

  test('a tag and a state find the emails that the text says they find', () => {
    const [tagged, bounced] = under('docs/api.md: Lists and pages');
    for (const list of [tagged, bounced]) {
      assert.deepEqual(
        list?.body.data.map(({ subject }: { subject: string }) => subject),
        ['Your order'],
      );
    }
  });

  test('a key that is repeated sends once', () => {
    const [first, second] = under('docs/api.md: Idempotency');
    assert.equal(second?.body.id, first?.body.id);
    assert.deepEqual([first?.replayed, second?.replayed], [false, true]);
  });

  test('what is scheduled is put off, and then taken back', () => {
    const [, later] = under('docs/api.md: Scheduling and cancelling');
    const aheadMs = Date.parse(later?.body.scheduledAt) - Date.now();
    assert.ok(aheadMs > 47 * 3_600_000 && aheadMs <= 48 * 3_600_000);
    assert.equal(later?.body.status, 'queued');
  });

  test('a domain is answered with its records, and an endpoint with its secret once', () => {
    const [created, , changed] = under('docs/dns.md: Add a sending domain');
    const kinds = (body: { records: { record: string }[] }) => body.records.map(({ record }) => record);
    assert.deepEqual(kinds(created?.body), ['SPF', 'DKIM', 'DMARC']);
    assert.deepEqual(kinds(changed?.body), ['SPF', 'DKIM', 'DMARC', 'TRACKING']);
    const [endpoint, sample, patched] = under('docs/webhooks.md: Create an endpoint');
    const [rotated, disabled] = under('docs/webhooks.md: Rotate the secret, or disable the endpoint');
    assert.match(endpoint?.body.secret, /^whsec_/);
    assert.deepEqual([sample?.body.delivered, sample?.body.responseStatus], [true, 200]);
    assert.deepEqual([patched?.body.events.length, patched?.body.secret], [2, undefined]);
    assert.match(rotated?.body.secret, /^whsec_/);
    assert.notEqual(rotated?.body.secret, endpoint?.body.secret);
    assert.deepEqual([disabled?.body.status, disabled?.body.disabledReason], ['disabled', 'manual']);
  });

  test('a file is taken in but for the row that is wrong, and comes out again', () => {
    const [, , errors, , , file] = under('docs/templates-and-contacts.md: Imports and exports');
    const [, members] = under('docs/templates-and-contacts.md: Segments');
    assert.match(errors?.body, /^line,email,error\r\n3,carl@example,/);
    assert.match(
      file?.body,
      /^email,firstName,lastName,unsubscribed,pending,topics\.top_\w+,properties\.plan,properties\.seats\r\n/,
    );
    assert.match(file?.body, /^bob@example\.com,Bob,,false,false,,free,\r$/m);
    assert.deepEqual(
      members?.body.data.map(({ email }: { email: string }) => email),
      ['ann@example.com'],
    );
  });

  test('a broadcast reaches its segment, and its ledger says who got it', () => {
    const [, , , , file] = under('docs/broadcasts.md: Who got it');
    assert.match(file?.body, /^email,status,reason,changedAt,openedAt,clickedAt,contactId,emailId\r\n/);
    assert.match(file?.body, /^bounced@simulator\.localhost,bounced,/m);
    assert.match(file?.body, /^delivered\+ann@simulator\.localhost,delivered,/m);
    assert.doesNotMatch(file?.body, /bob/);
    const { output = '' } = ran.find(({ block }) => block.text.includes('broadcast list')) ?? {};
    assert.match(
      output,
      /^brd_\w+ +default +test +sent +3 +0 +0 +2 +1 +For you, \{\{firstName\|friend\}\}$/m,
    );
  });

  test('a key is made with its limit, and its token shown', () => {
    const [made] = under('docs/api.md: API keys and plans');
    assert.match(made?.body.token, /^svc_dev_/);
    assert.deepEqual(made?.body.allowedIps, ['192.0.2.0/24']);
  });

  test('the commands for the operator make a tenant, a live key and records for a zone', () => {
    const { output = '' } = ran.find(({ block }) => block.text.includes('tenant create')) ?? {};
    assert.match(output, /^Tenant ten_\w+ "acme"/m);
    assert.match(output, /^svc_prd_\w{40}$/m);
    assert.match(output, /^bounce\.\S+ 3600 IN MX 10 /m);
  });

  test('the message to a mailbox is read by IMAP, and an archive is imported and exported', () => {
    const read = ran.find(({ block }) => block.text.includes('imaps://'))?.output ?? '';
    assert.match(read, /^Delivered-To: me@sandbox\.localhost\r?$/m);
    assert.match(read, /^Subject: Hello\r?$[\s\S]*^It works\.\r?$/m);
    const { output = '' } = ran.find(({ block }) => block.text.includes('mailbox import')) ?? {};
    assert.match(output, /^Imported 1 message into ben@sandbox\.localhost\nExported 1 message of ben@/m);
  });

  test('metrics are text for Prometheus', () => {
    assert.match(
      under('docs/operations.md: Metrics')[0]?.body,
      /^postrider_http_requests_total\{.*route="\/v1\/emails".*\} \d+$/m,
    );
  });
}

function placeOf({ page, block }: Pick<Ran, 'page' | 'block'>): string {
  return `${page}: ${block.heading}`;
}

async function compare(session: Session, { page, exchanges }: Ran, block: Block): Promise<string[]> {
  const { text } = block;
  const line = `${page}:${block.line}`;
  const exchange = exchanges.at(-1);
  if (!exchange) return [`${line}: no request was made before it`];
  const documented: unknown = JSON.parse(text);
  const deadline = Date.now() + MOMENT_MS;
  let actual: unknown = exchange.body;
  for (;;) {
    const difference = findDifference(documented, actual);
    if (difference === undefined) return [];
    if (exchange.method !== 'GET' || Date.now() > deadline) return [`${line}: ${difference}`];
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    actual = await session.again(exchange);
  }
}

/** Returns the requests in the form of ANSWERS, without the random part of ids. */
function transcript(ran: readonly Ran[]): string {
  let place = '';
  const lines: string[] = [];
  for (const example of ran) {
    for (const { method, path, status } of example.exchanges) {
      if (placeOf(example) !== place) lines.push(placeOf(example));
      place = placeOf(example);
      const short = path.replace(/^\/v1|\?.*$/g, '').replace(/(?<=\/[a-z]+_)[0-9a-z]{26}/g, '');
      lines.push(`  ${method} ${short} ${status}`);
    }
  }
  return lines.join('\n');
}
