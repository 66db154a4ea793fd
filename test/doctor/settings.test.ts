import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../src/config/config.ts';
import { showSettings, withoutSecrets } from '../../src/doctor/settings.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

function settingOf(shown: ReturnType<typeof showSettings>, key: string) {
  const setting = shown.settings.find((one) => one.key === key);
  assert.ok(setting, key);
  return setting;
}

test('every setting is shown with its value and with where it comes from: default, file or environment', () => {
  const file = join(temporaryDirectory('settings'), 'config.yaml');
  writeFileSync(file, 'hostname: mx.example\nhttp:\n  port: 9000\nsmtp:\n  port: 2500\n');
  const shown = showSettings(loadConfig({ file, env: { POSTRIDER_SMTP_PORT: '2525' } }));
  assert.equal(shown.file, file);
  assert.partialDeepStrictEqual(settingOf(shown, 'http.port'), {
    value: 9000,
    default: 8025,
    source: 'file',
    environment: 'POSTRIDER_HTTP_PORT',
  });
  // A variable wins over the file.
  assert.partialDeepStrictEqual(settingOf(shown, 'smtp.port'), { value: 2525, source: 'environment' });
  assert.partialDeepStrictEqual(settingOf(shown, 'http.address'), { value: '127.0.0.1', source: 'default' });
  assert.equal(settingOf(shown, 'tls.certificates').environment, null);
});

test('the values of a daemon without a file come from no file', () => {
  const shown = showSettings(loadConfig({ env: {} }));
  assert.equal(shown.file, null);
  assert.deepEqual(new Set(shown.settings.map(({ source }) => source)), new Set(['default']));
  assert.equal(settingOf(shown, 'smtp.port').value, 2525);
});

test('no value of a secret is shown, also inside of a list; paths of files with secrets are', () => {
  const routes = [{ name: 'a', password: 'hunter2', passwordFile: '/etc/a.password', clientSecret: 'x' }];
  assert.deepEqual(withoutSecrets(routes), [
    { name: 'a', password: null, passwordFile: '/etc/a.password', clientSecret: null },
  ]);
});
