/** The tests of the README's examples, for whichever curl. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { findDifference } from './documented.ts';
import { openSession, type Ran, type Session } from './examples.ts';
import { type Block, findBlocks, PAGE } from './page.ts';

/** What is long, installs something, or stays in the foreground; other tests run it. */
const NOT_RUN = ['npm ci\nnpm start\n', 'npm run demo\n'];
const NOT_RUN_UNDER = 'Development';

/** Every request that the examples make, in their order, and how it is answered. */
const ANSWERS = `
Start
  POST /emails 200
Recipients, tags, lists
  POST /emails 200
  GET /emails/em_ 200
  GET /emails 200
  GET /emails 200
Many at once
  POST /emails/batch 200
Attachments
  POST /emails 200
  GET /emails/em_ 200
  POST /emails 200
Later
  POST /emails 200
  PATCH /emails/em_ 200
  POST /emails/em_/cancel 200
Templates
  POST /templates 201
  POST /emails 200
  GET /emails/em_ 200
  PATCH /templates/tpl_ 200
Topics
  POST /topics 201
  POST /emails 200
Safe repeats
  POST /emails 200
  POST /emails 200
Domains
  POST /domains 201
  POST /domains/dom_/verify 200
  PATCH /domains/dom_ 200
  DELETE /domains/dom_ 204
Audiences, contacts, segments
  POST /audiences 201
  POST /audiences/aud_/contacts 201
  PATCH /audiences/aud_/contacts/ann@example.com 200
  POST /audiences/aud_/contacts/imports 202
  GET /imports/imp_ 200
  GET /imports/imp_/errors 200
  POST /audiences/aud_/contacts/exports 202
  GET /exports/exp_ 200
  GET /exports/exp_/file 200
  POST /segments 201
  GET /segments/seg_/contacts 200
  GET /segments/seg_ 200
Broadcasts
  POST /broadcasts 201
Suppressions
  POST /suppressions 201
  GET /suppressions 200
  DELETE /suppressions/gone@example.com 204
Webhooks
  POST /webhooks 201
  POST /webhooks/wh_/test 200
  PATCH /webhooks/wh_ 200
  GET /webhooks/wh_/deliveries 200
  POST /webhooks/wh_/replay 202
  POST /webhooks/wh_/rotate-secret 200
  PATCH /webhooks/wh_ 200
API keys
  POST /api-keys 201
  DELETE /api-keys/key_ 204
  GET /plan 200
Refusals
  POST /emails 400
Metrics
  GET /metrics 200
`;

/** What is shown of an email is how it stands a moment later. */
const MOMENT_MS = 5_000;
const POLL_MS = 20;

export function testExamples(curl: 'real' | 'stand-in'): void {
  const ran: Ran[] = [];
  /** What is wrong with documented answers. */
  const differences: string[] = [];

  before(async () => {
    const session = await openSession({ curl });
    try {
      for (const block of findBlocks(PAGE)) {
        const last = ran.at(-1);
        if (isRun(block)) ran.push(await session.run(block));
        else if (block.language === 'json' && last)
          differences.push(...(await compare(session, last, block)));
      }
    } finally {
      await session.close();
    }
  });

  const under = (heading: string) =>
    ran.filter(({ block }) => block.heading === heading).flatMap(({ exchanges }) => exchanges);

  test('every example runs, and each of its requests is answered as it should be', () => {
    for (const { block, code, output } of ran) {
      assert.equal(code, 0, `line ${block.line}\n${output}`);
      assert.doesNotMatch(output, /not found$|No such file|^curl: |error: /m, `line ${block.line}`);
    }
    assert.equal(transcript(ran), ANSWERS.trim());
  });

  test('every answer that is shown is the one that comes', () => {
    assert.deepEqual(differences, []);
  });

  test('a tag and a state find the emails that the text says they find', () => {
    const [, , tagged, bounced] = under('Recipients, tags, lists');
    for (const list of [tagged, bounced]) {
      assert.deepEqual(
        list?.body.data.map(({ subject }: { subject: string }) => subject),
        ['Your order'],
      );
    }
  });

  test('a key that is repeated sends once', () => {
    const [first, second] = under('Safe repeats');
    assert.equal(second?.body.id, first?.body.id);
    assert.deepEqual([first?.replayed, second?.replayed], [false, true]);
  });

  test('what is scheduled is put off, and then taken back', () => {
    const [, later] = under('Later');
    const aheadMs = Date.parse(later?.body.scheduledAt) - Date.now();
    assert.ok(aheadMs > 47 * 3_600_000 && aheadMs <= 48 * 3_600_000);
    assert.equal(later?.body.status, 'queued');
  });

  test('a domain is answered with its records, and an endpoint with its secret once', () => {
    const [created, , changed] = under('Domains');
    const kinds = (body: { records: { record: string }[] }) => body.records.map(({ record }) => record);
    assert.deepEqual(kinds(created?.body), ['SPF', 'DKIM', 'DMARC']);
    assert.deepEqual(kinds(changed?.body), ['SPF', 'DKIM', 'DMARC', 'TRACKING']);
    const [endpoint, sample, patched, , , rotated, disabled] = under('Webhooks');
    assert.match(endpoint?.body.secret, /^whsec_/);
    assert.deepEqual([sample?.body.delivered, sample?.body.responseStatus], [true, 200]);
    assert.deepEqual([patched?.body.events.length, patched?.body.secret], [2, undefined]);
    assert.match(rotated?.body.secret, /^whsec_/);
    assert.notEqual(rotated?.body.secret, endpoint?.body.secret);
    assert.deepEqual([disabled?.body.status, disabled?.body.disabledReason], ['disabled', 'manual']);
  });

  test('a file is taken in but for the row that is wrong, and comes out again', () => {
    const [, , , , , errors, , , file, , members] = under('Audiences, contacts, segments');
    assert.match(errors?.body, /^line,email,error\r\n3,carl@example,/);
    assert.match(
      file?.body,
      /^email,firstName,lastName,unsubscribed,topics\.top_\w+,properties\.plan,properties\.seats\r\n/,
    );
    assert.match(file?.body, /^bob@example\.com,Bob,,false,,free,\r$/m);
    assert.deepEqual(
      members?.body.data.map(({ email }: { email: string }) => email),
      ['ann@example.com'],
    );
  });

  test('a key is made with its limit, and its token shown', () => {
    const [made] = under('API keys');
    assert.match(made?.body.token, /^svc_dev_/);
    assert.deepEqual(made?.body.allowedIps, ['192.0.2.0/24']);
  });

  test('the commands for the operator make a tenant, a live key and records for a zone', () => {
    const { output = '' } = ran.find(({ block }) => block.text.includes('tenant create')) ?? {};
    assert.match(output, /^Tenant ten_\w+ "acme"/m);
    assert.match(output, /^svc_prd_\w{40}$/m);
    assert.match(output, /^bounce\.\S+ 3600 IN MX 10 /m);
  });

  test('metrics are text for Prometheus', () => {
    assert.match(
      under('Metrics')[0]?.body,
      /^postrider_http_requests_total\{.*route="\/v1\/emails".*\} \d+$/m,
    );
  });
}

function isRun({ language, text, heading }: Block): boolean {
  return language === 'sh' && heading !== NOT_RUN_UNDER && !NOT_RUN.includes(text);
}

async function compare(session: Session, { exchanges }: Ran, { text, line }: Block): Promise<string[]> {
  const exchange = exchanges.at(-1);
  if (!exchange) return [`line ${line}: nothing was asked before it`];
  const documented: unknown = JSON.parse(text);
  const deadline = Date.now() + MOMENT_MS;
  let actual: unknown = exchange.body;
  for (;;) {
    const difference = findDifference(documented, actual);
    if (difference === undefined) return [];
    if (exchange.method !== 'GET' || Date.now() > deadline) return [`line ${line}: ${difference}`];
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    actual = await session.again(exchange);
  }
}

/** In the form of ANSWERS: ids without what is random of them. */
function transcript(ran: readonly Ran[]): string {
  let heading = '';
  const lines: string[] = [];
  for (const { block, exchanges } of ran) {
    for (const { method, path, status } of exchanges) {
      if (block.heading !== heading) lines.push(block.heading);
      heading = block.heading;
      const short = path.replace(/^\/v1|\?.*$/g, '').replace(/(?<=\/[a-z]+_)[0-9a-z]{26}/g, '');
      lines.push(`  ${method} ${short} ${status}`);
    }
  }
  return lines.join('\n');
}
