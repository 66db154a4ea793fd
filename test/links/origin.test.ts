import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { apiOrigin, linksOrigin } from '../../src/links/origin.ts';

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

test('the API is reached over HTTPS at the host name, unless a proxy or the operator has another address for it', () => {
  const apiOf = (env: Record<string, string>) => apiOrigin(loadConfig({ env }));
  const named = { POSTRIDER_HOSTNAME: 'mx.example.com' };
  assert.equal(apiOf({ ...named, POSTRIDER_HTTPS_PORT: '443' }), 'https://mx.example.com');
  assert.equal(apiOf({ ...named, POSTRIDER_HTTPS_PORT: '8443' }), 'https://mx.example.com:8443');
  const url = 'https://api.example.org';
  assert.equal(apiOf({ ...named, POSTRIDER_HTTP_PUBLIC_URL: url }), url);
  const proxied = { ...named, POSTRIDER_HTTPS_ENABLED: 'false' };
  assert.equal(apiOf(proxied), 'http://127.0.0.1:8025');
  assert.equal(apiOf({ ...proxied, POSTRIDER_HTTP_ADDRESS: '::' }), 'http://mx.example.com:8025');
  assert.equal(apiOf({ ...proxied, POSTRIDER_HTTP_ADDRESS: '::1' }), 'http://[::1]:8025');
  assert.equal(apiOf({}), 'http://127.0.0.1:8025', 'a development machine has no certificate');
});
