/**
 * Whatever stands in the head of a request: ids, query strings, paths, Authorization. Routes are those of the document.
 * Emails of hostile fields become messages that are sound, and no header line is one that a caller wrote.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { newId } from '../../src/system/ids.ts';
import { emailBody, headerLines } from '../emails/fixtures.ts';
import { anyCharacter } from '../support/any-character.ts';
import { PREFIXES } from '../support/resources/resources.ts';
import { HOSTILE } from './hostile.ts';
import { turn } from './turns.ts';
import { type ItemRoute, openBadInput, run } from './world.ts';

/** One decoder reads the paths and queries of all routes: every third route is tried with each value. */
const TURNS = 3;
const ROUNDS = 30;

const world = await openBadInput();
const { ask } = world;
after(() => world.close());

function askFor({ api, method, before, after, payload, type }: ItemRoute, id: string) {
  return ask(api, {
    ...{ method, url: `${before}${id}${after}` },
    ...(payload !== undefined && { payload }),
    ...(type !== undefined && { headers: { 'content-type': type } }),
  });
}

test('no id, however it is written, is anything but not found', async () => {
  const time = world.populated.testApp.app.clock.now();
  // Two dots alone, escaped or not, are resolved by the client, so they are no id on the wire.
  const ids = [
    ...PREFIXES.map((prefix): string => newId(prefix, time)),
    ...['%00', 'em_%00', '%2F', '..%2F..%2Fetc', '%2e%2e%2e', '%C3%28', '%ED%A0%80', '%F0%9F%92%A9'],
    ...['%0D%0AX-A:%20b', '__proto__', 'constructor', 'em_', '*', ':id', "'--", '%25', '%3F', '%23', '_'],
    ...['a'.repeat(320), 'a'.repeat(321), 'a'.repeat(9_000), 'a%2F'.repeat(1_000), '%', '%zz', '%u0000'],
    ...['a/b', 'a//', 'a@b.example%00', '%@rcpt.example', 'nobody@rcpt.example', '9'.repeat(26)],
  ];
  assert.ok(world.itemRoutes.length > 50);
  for (const [place, route] of world.itemRoutes.entries()) {
    for (const id of [newId(route.prefix, time), ...turn(ids, place, TURNS)]) {
      const { status } = await askFor(route, id);
      const about = `${route.method} ${route.before}${id.slice(0, 50)}${route.after}: ${status}`;
      assert.ok([400, 404].includes(status), about);
    }
  }
  await run(
    fc.asyncProperty(
      fc.constantFrom(...world.itemRoutes),
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 }).filter((text) => !/^\.\.?$/.test(text)),
      async (route, text) => {
        const { status } = await askFor(route, encodeURIComponent(text));
        assert.ok([400, 404].includes(status), `${status} ${route.method} ${route.before}`);
      },
    ),
    ROUNDS,
  );
});

test('a query string may be anything', async () => {
  const everywhere = ['limit', 'startingAfter', 'endingBefore', 'createdAfter', 'x', '__proto__'];
  assert.ok(world.gets.length > 30);
  for (const [place, { api, url, parameters }] of world.gets.entries()) {
    const names = [...new Set([...turn(everywhere, place, TURNS), ...parameters])];
    const ofNone = [
      ...['', '&', '&&=', '=', '%', '%zz', '?', '%00', '__proto__=1', 'constructor[prototype]=1', '#'],
      ...['limit', 'limit=', 'limit=%00', 'limit[]=1', 'limit=1e9', 'limit=9007199254740993', 'limit=-0'],
      'x=1&'.repeat(5_000),
    ];
    const ofNames = names.flatMap((name) => [
      ...[`${name}=a&${name}=b`, `${name}=${'x'.repeat(9_000)}`, `${name}=%0D%0A`, `${name}=`, `${name}=%25`],
      ...[`${name}=%00`, `${name}=%C3%28`, `${name}=%ED%A0%80`, `${name}[]=1`, `${name}=__proto__`],
    ]);
    for (const query of turn([...ofNone, ...ofNames], place, TURNS)) {
      const { status } = await ask(api, { method: 'GET', url: `${url}?${query}` });
      assert.ok([200, 400, 404].includes(status), `${url}?${query.slice(0, 80)}: ${status}`);
    }
  }
  const anyPairs = fc.constantFrom(...world.gets).chain(({ api, url, parameters }) => {
    const name = fc.constantFrom(...everywhere, ...parameters);
    const pair = fc.tuple(name, fc.string({ unit: anyCharacter, maxLength: 40 }));
    return fc.tuple(fc.constant({ api, url }), fc.array(pair, { maxLength: 5 }));
  });
  await run(
    fc.asyncProperty(anyPairs, async ([{ api, url }, pairs]) => {
      const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
      const { status } = await ask(api, { method: 'GET', url: `${url}?${query}` });
      assert.ok([200, 400, 404].includes(status), `${status}`);
    }),
    ROUNDS,
  );
});

test('a parameter that is wrong is named', async () => {
  const { operations, owner } = world.populated;
  for (const { query, path, ids, listed } of operations) {
    if (listed === undefined) continue;
    const url = ids.reduce(
      (filled, { name, prefix }) => filled.replace(`{${name}}`, owner.ids[prefix]),
      path,
    );
    for (const { name, schema } of query) {
      const isStrict =
        schema.enum !== undefined ||
        ['integer', 'boolean'].includes(String(schema.type)) ||
        /(?:Af|Be)/.test(name);
      for (const value of isStrict ? ['%00', 'x', '1.5', '-1', '%20'] : []) {
        const { status, body } = await ask('public', { method: 'GET', url: `${url}?${name}=${value}` });
        assert.deepEqual([status, body.error?.param], [400, name], `${url}?${name}=${value}`);
      }
    }
  }
});

test('an unknown path is not found, a method not served there is said to be so', async () => {
  const nowhere = [
    '/v1',
    '/v1/',
    '/v2/emails',
    '/v1/emails/a/b',
    '//v1/emails',
    '/v1/%65mails%00',
    '/%',
    '/*',
  ];
  for (const url of nowhere) {
    const { status } = await ask('public', { method: 'GET', url });
    assert.ok([400, 404].includes(status), `${url}: ${status}`);
  }
  const { operations } = world.populated;
  const isPut = new Set(operations.filter(({ method }) => method === 'PUT').map(({ path }) => path));
  const others = operations.filter(({ path }) => !isPut.has(path));
  const paths = new Set(others.map(({ path }) => path.replace(/\{\w+\}/g, 'em_1')));
  for (const url of paths) {
    const { status, body } = await ask('public', { method: 'PUT', url, payload: '{}' });
    assert.deepEqual([status, body.error?.type], [405, 'method_not_allowed'], url);
  }
});

test('an Authorization header may be anything', async () => {
  const { test: testKey, live } = world.populated.owner.keys;
  const values = [
    ...['', ' ', 'Bearer', 'Bearer ', 'Basic YTpi', 'Bearer a b', `Bearer ${'x'.repeat(9_000)}`, '\xff\xfe'],
    ...[`bearer ${testKey}x`, `Bearer ${live.slice(0, -1)}!`],
  ];
  for (const authorization of values) {
    const { status } = await ask('public', { method: 'GET', url: '/v1/emails', headers: { authorization } });
    assert.equal(status, 401, authorization.slice(0, 40));
  }
});

const { app } = world.populated.testApp;
test('an Idempotency-Key may be anything', async () => {
  const payload = JSON.stringify(emailBody());
  await run(
    fc.asyncProperty(fc.string({ maxLength: 300 }), async (text) => {
      const headers = { 'idempotency-key': text.replace(/[^\t -~]/g, '') };
      const { status } = await ask('public', { method: 'POST', url: '/v1/emails', payload, headers });
      assert.ok([200, 400].includes(status));
    }),
    100,
  );
});

/** In the order they are written (RFC 5322 section 3.6). */
const FIELDS = ['From', 'To', 'Cc', 'Reply-To', 'Subject', 'Message-ID', 'MIME-Version', 'Content-Type'];
const PIECES = ['\r', '\n', '\0', '\u2028', ' ', 'a', 'Bcc: x@evil.example', '=?', '?=', ':', '"', '\\'];

test('no subject and no display name adds a line to the header', async () => {
  const hostile = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 200 }),
    fc.constantFrom(...HOSTILE),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((parts) => parts.join('')),
  );
  let accepted = 0;
  await run(
    fc.asyncProperty(hostile, hostile, hostile, async (subject, name, other) => {
      const quoted = `"${name.replace(/["\\]/g, '\\$&')}" <a@rcpt.example>`;
      const raw = `${other} <b@rcpt.example>`;
      const body = emailBody({ subject: `s${subject}`, to: [quoted], cc: [raw], replyTo: quoted });
      let answer = await ask('public', { method: 'POST', url: '/v1/emails', payload: JSON.stringify(body) });
      if (answer.status === 400) {
        const plainer = emailBody({
          ...{ subject: `s${subject}`, to: 'a@b.example', cc: 'c@b.example', replyTo: 'a@b.example' },
        });
        answer = await ask('public', { method: 'POST', url: '/v1/emails', payload: JSON.stringify(plainer) });
      }
      if (answer.status !== 200) return;
      accepted++;
      const lines = await headerLines(app, String(answer.body.id));
      const names = lines.map((line) => line.slice(0, line.indexOf(':')));
      assert.deepEqual(names, [...FIELDS, 'Content-Transfer-Encoding'], lines.join('\n'));
      assert.ok(
        lines.every((line) => /^[\t -~]*$/.test(line)),
        'ASCII alone, and no bare CR or LF',
      );
    }),
    150,
  );
  assert.ok(accepted > 50, `${accepted} were accepted`);
});
