/** Tests of which links are tracked, of what changes in the HTML, and of where a tracked link leads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeHTMLAttribute } from 'entities/decode';
import type { TrackingTokens } from '../../../src/links/tracking-token.ts';
import { findHtmlLinks } from '../../../src/mail/links/html-links.ts';
import { renderTemplate } from '../../../src/templates/render.ts';
import { chooseLinks, placeholdersOf, withoutPlaceholders } from '../../../src/tracking/links/choose.ts';
import { instrument, maxGrowth, type Tracking } from '../../../src/tracking/links/instrument.ts';
import { locationOf } from '../../../src/tracking/pages.ts';
import { hrefs } from '../../support/hrefs.ts';

const OWN = new Set(['track.mx.example']);
const ORIGIN = 'https://track.mx.example';
const tokens: TrackingTokens = { open: () => 'O'.repeat(48), click: (link) => `${link}`.padStart(48, 'c') };

function choose(html: string, isTemplate = true) {
  const placeholders = placeholdersOf(html, isTemplate);
  const found = findHtmlLinks(withoutPlaceholders(html, placeholders));
  return { ...found, chosen: chooseLinks(found, { html, placeholders, ownHosts: OWN }) };
}

const targets = (html: string, isTemplate = true): string[] =>
  choose(html, isTemplate).chosen.map(({ target }) => target);

const link = (href: string) => `<a href="${href}">x</a>`;

test('only web addresses of others are tracked', () => {
  for (const href of [
    'https://track.mx.example/u/abc',
    'https://user@bank.example/',
    'https://user:word@bank.example/',
    'https://bank.example@evil.example/',
    'https://',
    'https://[::1/',
    'https://a.example:99999/',
    `https://a.example/${'x'.repeat(4_100)}`,
  ])
    assert.deepEqual(targets(link(href)), [], href);
  assert.deepEqual(targets(link('https://a.example/?a=1&amp;b=2&copy=3')), [
    'https://a.example/?a=1&b=2&copy=3',
  ]);
  assert.equal(targets(link('https://a.example/').repeat(600)).length, 500);
});

test('the link to unsubscribe is never tracked, in any form', () => {
  for (const href of [
    '{{{unsubscribe_url}}}',
    '{{unsubscribe_url}}',
    'https://a.example/?u={{{unsubscribe_url}}}',
    'https://a.example/?u={{ unsubscribe_url }}',
  ]) {
    assert.deepEqual(targets(link(href)), [], href);
    assert.deepEqual(targets(link(href), false), [], href);
  }
});

test('a placeholder may stand behind the host of a link, and nowhere else', () => {
  assert.deepEqual(targets(link('https://a.example/{{id}}?n={{name|you &amp; me}}&amp;x=1')), [
    'https://a.example/{{id}}?n={{name|you &amp; me}}&x=1',
  ]);
  for (const href of [
    '{{url}}',
    'https://{{host}}/',
    'https://a.example{{rest}}',
    'https://a.example:{{port}}/',
    'https:{{slashes}}//a.example/',
    'https://a.example/?x&{{name}}',
    'https://a.example/?x&am{{name}}',
    'https://a.example/{{{raw}}}',
  ])
    assert.deepEqual(targets(link(href)), [], href);
  assert.deepEqual(targets('<a href=https://a.example/{{name}}>x</a>'), []);
  assert.deepEqual(targets(link('https://a.example/{{id}}'), false), ['https://a.example/{{id}}']);
});

test('markup in a placeholder is no markup', () => {
  const html = `{{x|<a href="https://evil.example/">}}<a title="{{y|">}}" href="https://a.example/">x</a>{{z|</body>}}`;
  const { chosen, bodyEnd } = choose(html);
  assert.deepEqual(
    chosen.map(({ target }) => target),
    ['https://a.example/'],
  );
  assert.equal(bodyEnd, null);
});

test('no byte changes but the links and the pixel', () => {
  const html = `<p>ä 😀\r\n<a href='https://a.example/?ü=1'>x</a> {{name}} <a\nhref=https://b.example/>y</a></p></body >\r\n`;
  const { chosen, bodyEnd } = choose(html);
  const links = chosen.map(({ from, to }) => [from, to] as const);
  const tracking: Tracking = { origin: ORIGIN, pixelAt: bodyEnd ?? html.length, links };
  const shown = instrument(html, { tracking, tokens });
  assert.equal(
    shown,
    html
      .replace('https://a.example/?ü=1', `${ORIGIN}/c/${tokens.click(0)}`)
      .replace('https://b.example/', `${ORIGIN}/c/${tokens.click(1)}`)
      .replace('</body >', `<img src="${ORIGIN}/o/${tokens.open()}" width="1" height="1" alt=""></body >`),
  );
  assert.ok(shown.length - html.length <= maxGrowth(tracking));
  assert.equal(instrument(html, { tracking: { origin: ORIGIN, links: [] }, tokens }), html);
  const late = instrument(`</body>${link('https://a.example/')}`, {
    tracking: { origin: ORIGIN, pixelAt: 0, links: [[16, 34]] },
    tokens,
  });
  assert.match(late, /^<img [^>]*><\/body><a href="https:\/\/track\.mx\.example\/c\/\w+">x<\/a>$/);
});

test('500 tracked links lead where the untouched ones lead', () => {
  for (const href of hrefs()) {
    const quoted = `<a href='${href}'>x</a>`;
    const [target] = targets(quoted, false);
    assert.ok(target !== undefined, href);
    assert.equal(locationOf({ url: target, values: null }), new URL(decodeHTMLAttribute(href)).href, href);
  }
});

test('values lead where the filled link would lead', () => {
  const html = link('https://a.example/{{path}}?q={{q|none}}&amp;x=1#{{f}}');
  const [url = ''] = targets(html);
  for (const value of [
    'a',
    'a b&c',
    '"><script>',
    '//evil.example/',
    '\\\\evil.example',
    '@evil.example',
    'x\r\nSet-Cookie: a=1',
  ]) {
    for (const values of [{ path: value }, { q: value }, { f: value }]) {
      const { text } = renderTemplate(html, values, { form: 'html', isMarketing: true });
      const original = new URL(decodeHTMLAttribute(text.slice(9, text.indexOf('">x'))));
      const location = locationOf({ url, values });
      assert.equal(location, original.href, value);
      assert.equal(original.host, 'a.example');
      assert.doesNotMatch(location ?? '', /[\r\n]/);
    }
  }
  // After retention has removed the values, fallbacks apply.
  assert.equal(locationOf({ url, values: {} }), 'https://a.example/?q=none&x=1#');
});

test('a value stays one value in a link with white space or other signs before it', () => {
  for (const before of ['Dear ', 'a<', "'", '(', '\n', 'x'.repeat(3_000), '{{v}} '])
    assert.match(
      locationOf({ url: `https://a.example/?q=${before}{{v}}`, values: { v: 'A&admin=1' } }) ?? '',
      /A%26admin%3D1$/,
      before,
    );
});

test('a stored address that leads to no website leads nowhere', () => {
  for (const url of [
    'javascript:alert(1)',
    'data:text/html,x',
    'ftp://a.example/',
    '//a.example',
    'https://u@a.example/',
    '',
  ])
    assert.equal(locationOf({ url, values: null }), undefined, url);
  const values = { v: 'x'.repeat(9_000) };
  assert.equal(locationOf({ url: 'https://a.example/{{v}}', values }), undefined);
  for (const v of ['@evil.example/', '.evil.example/', ':1@evil.example/'])
    assert.equal(locationOf({ url: 'https://a.example{{v}}', values: { v } }), undefined, v);
});
