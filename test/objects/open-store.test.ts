import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readStoreSettings, type StoreSettings, StoreSettingsError } from '../../src/objects/open-store.ts';

const KEYS = { accessKeyId: 'A', secretAccessKey: 's' };
const PIN = `sha256//${'A'.repeat(43)}=`;

test('the URL of a store says what it is', () => {
  assert.deepEqual(readStoreSettings({ url: 'file:///mnt/backup%20disk' }), {
    kind: 'folder',
    folder: '/mnt/backup disk',
  });
  const host = { url: 'https://standby.example:8465', token: 'abc', pin: PIN };
  assert.deepEqual(readStoreSettings({ ...host, url: `${host.url}/` }), { kind: 'host', ...host });
  const bucket = readStoreSettings({ url: 's3+https://s3.example/mail-standby/one/two/', ...KEYS });
  assert.deepEqual(bucket, {
    kind: 's3',
    endpoint: 'https://s3.example',
    bucket: 'mail-standby',
    prefix: 'one/two/',
    region: 'us-east-1',
    sessionToken: undefined,
    addressing: 'path',
    pin: undefined,
    ...KEYS,
  });
  const plain = readStoreSettings({ url: 's3+http://127.0.0.1:9000/mail', region: 'garage', ...KEYS });
  assert.ok(plain.kind === 's3');
  assert.deepEqual([plain.endpoint, plain.prefix, plain.region], ['http://127.0.0.1:9000', '', 'garage']);
});

test('settings that cannot be used are refused with a sentence', () => {
  const wrong: [StoreSettings, RegExp][] = [
    [{ url: 'somewhere' }, /is not a URL/],
    [{ url: 'ftp://host/x' }, /begins with file:\/\//],
    [{ url: 'http://host:8465', token: 'abc' }, /begins with file:\/\//],
    [{ url: 'file://host/folder' }, /three slashes/],
    [{ url: 'file:///a%2Fb' }, /names no folder/],
    [{ url: 'https://user:secret@host:8465', token: 'abc' }, /no user, password/],
    [{ url: 'https://host:8465/path', token: 'abc' }, /has no path/],
    [{ url: 'https://host:8465' }, /token of host:8465 is missing/],
    [{ url: 'https://host:8465', token: 'a b' }, /characters that a token cannot have/],
    [{ url: 'https://host:8465', token: 'abc', pin: 'sha256//short' }, /a pin is sha256/],
    [{ url: 's3+https://s3.example', ...KEYS }, /URL of a bucket/],
    [{ url: 's3+https://s3.example/b%2Fx', ...KEYS }, /URL of a bucket/],
    [{ url: 's3+https://s3.example/bucket/a//b', ...KEYS }, /prefix "a\/\/b"/],
    [{ url: 's3+https://s3.example/bucket/%zz', ...KEYS }, /the prefix "%zz"/],
    [{ url: 's3+https://s3.example/bucket?x=1', ...KEYS }, /no user, password, query/],
    [{ url: 's3+https://s3.example/bucket' }, /needs an access key/],
  ];
  for (const [settings, message] of wrong) {
    assert.throws(
      () => readStoreSettings(settings),
      (error: unknown) => error instanceof StoreSettingsError && message.test(error.message),
      settings.url,
    );
  }
});
