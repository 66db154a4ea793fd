import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { linksOrigin } from '../../src/links/origin.ts';

const originOf = (env: Record<string, string>) => linksOrigin(loadConfig({ env }));

test('public pages have a host name of their own, unless the operator names another address', () => {
  assert.equal(originOf({}), 'http://track.localhost:8025');
  assert.equal(originOf({ POSTRIDER_HOSTNAME: 'mx.example.com' }), 'https://track.mx.example.com');
  const url = 'https://links.example.org:8443';
  assert.equal(originOf({ POSTRIDER_HOSTNAME: 'mx.example.com', POSTRIDER_LINKS_URL: url }), url);
});

test('the address of the public pages is an origin', () => {
  for (const url of [
    'links.example.org',
    'https://a.example/path',
    'ftp://a.example',
    'https://a b',
    'https://u@a.example',
  ])
    assert.throws(() => originOf({ POSTRIDER_LINKS_URL: url }), /links\.url|LINKS_URL/, url);
});
