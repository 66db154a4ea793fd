import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDomainName, readTrackingHost } from '../../src/domains/name.ts';
import { AppError } from '../../src/system/errors.ts';

const config = { hostname: 'MX.postrider.example' };
/** As long as the name of its DKIM record allows: 231 characters. */
const LONGEST = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(35)}.com`;

for (const [text, name] of [
  ['example.com', 'example.com'],
  ['News.Example.COM', 'news.example.com'],
  ['bücher.example', 'xn--bcher-kva.example'],
  ['XN--BCHER-KVA.example', 'xn--bcher-kva.example'],
  ['例え。テスト', 'xn--r8jz45g.xn--zckzah'],
  ['1.example', '1.example'],
  [LONGEST, LONGEST],
  ['postrider.example', 'postrider.example'],
  ['news.mx.postrider.example', 'news.mx.postrider.example'],
  ['notsandbox.mx.postrider.example', 'notsandbox.mx.postrider.example'],
] as const) {
  test(`${text.slice(0, 40)} is a domain`, () => assert.equal(readDomainName(config, text), name));
}

for (const text of [
  '',
  'localhost',
  'com',
  '.com',
  'example.com.',
  'example..com',
  '-a.example',
  'a-.example',
  'under_score.example',
  LONGEST.replace('.com', 'd.com'),
  `${'a'.repeat(64)}.example`,
  '192.0.2.1',
  '[192.0.2.1]',
  'user@example.com',
  '<b@example.com>',
  'x> <b@example.com',
  ' example.com',
  'example.com ',
  'exa mple.com',
  'exa\tmple.com',
  'example.com\r\n',
  'example.com\r\nBcc: a',
  'example.com\0.evil.example',
  'example.com\u2028',
  'exa\ud800mple.com',
  '\udc00',
  'xn--iñvalid.example',
  'exa*mple.com',
  '*.example.com',
  'https://example.com',
  'example.com:25',
  'example.com/path',
  '__proto__',
  'a"b.example',
]) {
  test(`${JSON.stringify(text.slice(0, 40))} is no domain`, () => {
    assert.throws(
      () => readDomainName(config, text),
      (error) =>
        error instanceof AppError && error.code === 'validation_error' && error.options.param === 'name',
    );
  });
}

for (const text of [
  'mx.postrider.example',
  'bounce.mx.postrider.example',
  'track.mx.postrider.example',
  'sandbox.mx.postrider.example',
  'Simulator.MX.Postrider.example',
  'x.sandbox.mx.postrider.example',
  'a.b.bounce.mx.postrider.example',
]) {
  test(`${text} is the installation's own`, () => {
    assert.throws(() => readDomainName(config, text), /belongs to this installation/);
  });
}

for (const [text, host] of [
  ['links.example.com', 'links.example.com'],
  ['A.B.Example.COM', 'a.b.example.com'],
  ['bücher.example.com', 'xn--bcher-kva.example.com'],
] as const) {
  test(`${text} can be the tracking host of example.com`, () =>
    assert.equal(readTrackingHost(config, 'example.com', text), host));
}

for (const [domain, text, message] of [
  ['example.com', 'example.com', /below example\.com/],
  ['example.com', 'links', /below example\.com, such as links\.example\.com/],
  ['example.com', 'links.example.org', /below/],
  ['example.com', 'badexample.com', /below/],
  ['example.com', 'example.com.evil.example', /below/],
  ['example.com', 'under_score.example.com', /below/],
  ['example.com', 'links.example.com.', /below/],
  ['example.com', ' links.example.com', /below/],
  ['example.com', 'a.example.com\r\nb.example.com', /below/],
  ['example.com', 'x> <a@links.example.com', /below/],
  ['example.com', '*.example.com', /below/],
  ['example.com', '', /below/],
  ['example.com', 'Bounce.example.com', /reserved for bounces/],
  ['example.com', 'MTA-STS.example.com', /begin with mta-sts/],
  ['example.com', 'autoconfig.a.example.com', /begin with autoconfig/],
  ['example.com', 'autodiscover.example.com', /begin with autodiscover/],
  ['postrider.example', 'mx.postrider.example', /belongs to this installation/],
  ['postrider.example', 'track.mx.postrider.example', /belongs to this installation/],
  ['postrider.example', 'sandbox.mx.postrider.example', /belongs to this installation/],
  ['postrider.example', 'simulator.mx.postrider.example', /belongs to this installation/],
  ['postrider.example', 'bounce.mx.postrider.example', /belongs to this installation/],
  ['postrider.example', 'x.track.mx.postrider.example', /belongs to this installation/],
] as const) {
  test(`${JSON.stringify(text)} cannot be the tracking host of ${domain}`, () => {
    assert.throws(
      () => readTrackingHost(config, domain, text),
      (error) => {
        assert.ok(error instanceof AppError);
        assert.deepEqual([error.code, error.options.param], ['validation_error', 'trackingSubdomain']);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}
