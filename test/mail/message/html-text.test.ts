import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import {
  createHtmlText,
  type GeneratedText,
  GROW_AFTER_MS,
  JOB_TIMEOUT_MS,
  MAX_CHARACTERS,
  MAX_LAID_OUT_CHARACTERS,
  RESTORE_TIMEOUT_MS,
} from '../../../src/mail/message/html-text.ts';
import { AppError } from '../../../src/system/errors.ts';
import { createLog } from '../../../src/system/log.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

function open(context: TestContext) {
  const clock = createFakeClock(0);
  const warnings: unknown[] = [];
  const log = Object.assign(createLog('silent'), {
    warn: ({ reason, count }: { reason: string; count: number }) =>
      void warnings.push(count === 1 ? reason : `${reason} x${count}`),
  });
  const htmlText = createHtmlText({ clock, log });
  context.after(() => htmlText.close());
  const convert = async (html: string, owner = 'a') => (await htmlText.convert(html, owner)).text;
  return { clock, warnings, htmlText, convert };
}

function fixture(name: string): string {
  return readFileSync(new URL(`../../fixtures/html/${name}`, import.meta.url), 'utf8');
}

test('a newsletter of nested tables reads from top to bottom, with its links', async (t) => {
  const { convert, warnings } = open(t);
  assert.equal(
    await convert(fixture('newsletter.html')),
    `Up to 40% off everything this week
Example Shop [https://shop.example/]

Hello Ada,

our spring sale has begun — up to 40 % off. It lasts until Sunday, and
everything that you put in your basket until then is yours at the lower price.

Red shoes
Red shoes
€40 €60
Buy now [https://shop.example/red?utm_source=mail&utm_campaign=spring]
Blue hat
€15
Buy now [https://shop.example/blue?utm_source=mail&utm_campaign=spring]
* Free delivery above €50
* 30 days to return [https://shop.example/returns]

Example Shop Ltd, 1 Main St
Questions? help@shop.example | Unsubscribe [https://shop.example/u/abc]`,
  );
  assert.deepEqual(warnings, []);
});

test('a receipt keeps its columns, lists their numbers, quotations their marks', async (t) => {
  const { convert } = open(t);
  assert.equal(
    await convert(fixture('receipt.html')),
    `Receipt #1042

Thank you, Grüße!

Item                   Qty   Price
Espresso beans, 1 kg   2     $36.00
Filter                 1     $4.50
Total                        $40.50

Subtotal $40.50
Shipping $0.00

----------------------------------------

 1. Open the box
 2. Enjoy
    a. hot
    b. iced

> Best beans ever.
>
> -- a customer

code:
  line 1
  line 2

See https://example.com/ and the top; an unclosed bold <tag> & 5 < 6.`,
  );
});

test('header cells do not make columns of a table that says it is layout', async (t) => {
  const { convert } = open(t);
  const rows = '<tr><th>a</th><td>b</td></tr><tr><th>cc</th><td>d</td></tr>';
  assert.equal(await convert(`<table>${rows}</table>`), 'a    b\ncc   d');
  assert.equal(await convert(`<table role="presentation">${rows}</table>`), 'a b\ncc d');
});

test('a fragment without structure is its own text, one without words is empty', async (t) => {
  const { convert } = open(t);
  assert.equal(await convert('Your code is <b>123456</b>.'), 'Your code is 123456.');
  assert.equal(await convert('<img src="https://a.example/o.gif"><style>p{}</style>'), '');
  assert.equal(await convert('<title>t</title><template><p>u</p></template><p>v'), 'v');
  assert.equal(await convert(''), '');
});

test('lines are wrapped at 78 characters, addresses never', async (t) => {
  const { convert } = open(t);
  const address = `https://a.example/${'x'.repeat(100)}`;
  const text = await convert(`<p>${'word '.repeat(60)}<a href="${address}">link</a></p>`);
  const lines = text.split('\n');
  assert.ok(
    lines.every((line) => line.length <= 78 || line === `[${address}]`),
    text,
  );
  assert.ok(lines.includes(`[${address}]`));
});

/** Holds the library for many seconds, or overflows its stack. */
const BOMB = '<table><tr><td>'.repeat(60_000);

test('a hostile document is ended by the clock, stripped instead, and holds up no other tenant', async (t) => {
  const { clock, convert, warnings } = open(t);
  assert.equal(await convert('<p>warm'), 'warm');
  const bomb = convert(`before ${BOMB}after`);
  const other = convert('<p>another', 'b');
  await clock.advance(GROW_AFTER_MS);
  assert.equal(await other, 'another');
  await clock.advance(JOB_TIMEOUT_MS - GROW_AFTER_MS);
  assert.equal(await bomb, 'before\n\nafter');
  assert.deepEqual(warnings, ['overran']);
  assert.equal(await convert('<p>next'), 'next');
});

test('a document that the layout library cannot process is stripped instead', async (t) => {
  const { convert, warnings } = open(t);
  assert.equal(await convert(`${'<b>'.repeat(20_000)}x`), 'x');
  assert.deepEqual(warnings, ['threw']);
});

/** Throws in the library. */
const ENDLESS = '<ol type="I" start="1e300"><li>x</ol>';

test('the first stripped document is logged at once, and later ones as a number per minute', async (t) => {
  const { clock, convert, warnings } = open(t);
  for (let count = 0; count < 4; count++) assert.equal(await convert(ENDLESS), '* x');
  assert.deepEqual(warnings, ['threw']);
  await clock.advance(59_999);
  assert.deepEqual(warnings, ['threw']);
  await clock.advance(1);
  assert.deepEqual(warnings, ['threw', 'threw x3']);
  await clock.advance(60_000);
  await convert(ENDLESS);
  assert.deepEqual(warnings, ['threw', 'threw x3', 'threw']);
});

test('hundreds of small documents at once are all laid out', async (t) => {
  const { convert, warnings } = open(t);
  const texts = await Promise.all(Array.from({ length: 1_000 }, () => convert('<ol><li>x</ol>')));
  assert.deepEqual(new Set(texts), new Set(['1. x']));
  assert.deepEqual(warnings, []);
});

test('documents of a tenant wait for as many characters as it may have, and the rest are stripped at once', async (t) => {
  const { convert, htmlText, warnings } = open(t);
  const most = MAX_CHARACTERS / MAX_LAID_OUT_CHARACTERS;
  const list = '<ol><li>x</ol>'.padEnd(MAX_LAID_OUT_CHARACTERS);
  const converting = Array.from({ length: most + 1 }, () => convert(list));
  assert.equal((await htmlText.convert(list, 'b')).text, '1. x', 'another tenant has its own share');
  const texts = await Promise.all(converting);
  assert.deepEqual(texts, [...Array(most).fill('1. x'), '* x']);
  assert.deepEqual(warnings, ['crowded']);
  assert.equal(await convert(list), '1. x');
});

test('cells that say they span a billion columns span a few', async (t) => {
  const { convert, warnings } = open(t);
  const html = '<table><tr><th colspan="1000000000">a<th>b<tr><td rowspan="1e9">c<td>d</table>';
  assert.match(await convert(html), /^a +b\nc +d$/);
  assert.deepEqual(warnings, []);
});

test('text that grows out of proportion is stripped instead', async (t) => {
  const { convert, warnings } = open(t);
  const html = `${'<blockquote>'.repeat(100)}${'x<br>'.repeat(20_000)}`;
  assert.equal(await convert(html), Array(20_000).fill('x').join('\n'));
  assert.deepEqual(warnings, ['threw']);
});

test('a document too large to be laid out is stripped, without a thread', async (t) => {
  const { convert, warnings } = open(t);
  const list = '<ol><li>x</ol>';
  assert.equal(await convert(list.padEnd(MAX_LAID_OUT_CHARACTERS)), '1. x');
  assert.equal(await convert(list.padEnd(MAX_LAID_OUT_CHARACTERS + 1)), '* x');
  assert.deepEqual(warnings, []);
});

test('documents are converted even while the converter closes, and after', async (t) => {
  const { htmlText, convert } = open(t);
  const bomb = convert(`<ol><li>x${BOMB}`);
  await htmlText.close();
  assert.equal(await bomb, '* x');
  assert.equal(await convert('<ol><li>y'), '* y');
});

/** Generates a text again in a converter that remembers nothing. */
async function restoreAnew(context: TestContext, html: string, { origin }: Pick<GeneratedText, 'origin'>) {
  const { htmlText, warnings } = open(context);
  return { ...(await htmlText.restore(html, { origin, owner: 'a' })), warnings };
}

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === 'unavailable';

test('a text is generated again by the method of its origin, and has the same origin', async (t) => {
  const { htmlText } = open(t);
  const large = `<p>1</p><ol><li>x</ol>${' '.repeat(MAX_LAID_OUT_CHARACTERS)}`;
  for (const html of [fixture('newsletter.html'), fixture('receipt.html'), ENDLESS, large]) {
    const generated = await htmlText.convert(html, 'a');
    const restored = await restoreAnew(t, html, generated);
    assert.deepEqual(restored, { ...generated, warnings: [] });
    assert.equal(generated.origin.bytes, Buffer.byteLength(generated.text));
    assert.equal(generated.origin.method, html === large || html === ENDLESS ? 'strip' : 'layout');
  }
});

test('a text that was just generated is remembered, for its tenant alone', async (t) => {
  const { htmlText } = open(t);
  const generated = await htmlText.convert('<ol><li>x</ol>', 'a');
  await htmlText.close();
  const { origin } = generated;
  assert.deepEqual(await htmlText.restore('<ol><li>x</ol>', { origin, owner: 'a' }), generated);
  await assert.rejects(htmlText.restore('<ol><li>x</ol>', { origin, owner: 'b' }), isUnavailable);
});

test('a text that was laid out is never stripped because the threads are busy or slow', async (t) => {
  const { clock, htmlText, warnings } = open(t);
  const origin = { method: 'layout', bytes: 1, hash: 'unknown' } as const;
  await htmlText.convert('<p>warm', 'a');
  const bomb = htmlText.restore(`before ${BOMB}after`, { origin, owner: 'a' });
  const isRefused = assert.rejects(bomb, isUnavailable);
  await clock.advance(JOB_TIMEOUT_MS);
  assert.equal(await Promise.race([bomb, Promise.resolve('running')]), 'running');
  const waiting = htmlText.restore('<p>x', { origin, owner: 'a', waitTimeoutMs: 1_000 });
  const hasWaited = assert.rejects(waiting, isUnavailable);
  await clock.advance(RESTORE_TIMEOUT_MS - JOB_TIMEOUT_MS);
  await Promise.all([isRefused, hasWaited]);
  assert.deepEqual(warnings, []);
});

test('a layout that a new version of the library refuses is stripped, and its origin says so', async (t) => {
  const origin = { method: 'layout', bytes: 4, hash: 'earlier' } as const;
  const { text, origin: now, warnings } = await restoreAnew(t, ENDLESS, { origin });
  assert.deepEqual([text, now.method, warnings], ['* x', 'strip', ['threw']]);
  assert.notEqual(now.hash, origin.hash);
});
