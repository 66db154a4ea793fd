import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { findProvider, packagedProviders, parseProviders, providerLabel } from '../../src/providers/table.ts';

test('a host belongs to the provider with the longest name that it ends with', () => {
  const table = packagedProviders();
  for (const [host, name, label] of [
    ['gmail-smtp-in.l.google.com', 'google', 'google'],
    ['hotmail-com.olc.protection.outlook.com', 'outlook', 'microsoft'],
    ['example-com.mail.protection.outlook.com', 'microsoft', 'microsoft'],
    ['example-com.v1.mx.microsoft', 'microsoft', 'microsoft'],
    ['mta5.am0.yahoodns.net', 'yahoo', 'yahoo'],
    ['mx00.gmx.net', 'gmx', 'gmx'],
    ['mx2.mxge.comcast.net', 'comcast', 'comcast'],
    ['mx1h1.comcast.net', 'comcast', 'comcast'],
    ['smtp-in.orange.fr', 'orange', 'orange'],
    ['emx.mail.ru', 'mail.ru', 'mail.ru'],
    // Names of subscribers and of customers.
    ['c-192-0-2-1.hsd1.ma.comcast.net', undefined, 'other'],
    ['abo-1-mrs.wanadoo.fr', undefined, 'other'],
    ['db.vpc.mcs.mail.ru', undefined, 'other'],
    ['notgoogle.com', undefined, 'other'],
    ['google.com.example', undefined, 'other'],
    ['', undefined, 'other'],
  ] as const) {
    assert.equal(findProvider(table, host)?.name, name, host);
    assert.equal(providerLabel(host), label, host);
  }
  assert.equal(providerLabel('ASPMX.L.GOOGLE.COM'), 'google', 'servers may be named in capitals');
  assert.equal(providerLabel(null), 'none');
});

const packaged = readFileSync('config/providers.yaml', 'utf8');

test('a mistake in the table is refused with its row', () => {
  const refused = (from: string, to: string, message: RegExp): void => {
    const changed = packaged.replace(from, to);
    assert.notEqual(changed, packaged);
    assert.throws(() => parseProviders(changed), message);
  };
  refused(
    'name: yandex',
    'name: google',
    /^DataTableError: providers: row "google": another row has the same name/,
  );
  refused('connections: 5', 'connections: 0', /row "google": limits.connections /);
  refused('connections: 5', 'sessions: 5', /row "google": limits must not have/);
  refused('mx: [qq.com]', 'mx: [emx.mail.ru]', /row "qq": emx.mail.ru stands in the table twice/);
  refused(
    '[google.com, googlemail.com]',
    '[google.com, hotmail.com]',
    /row "outlook": hotmail.com stands in the table twice/,
  );
  assert.throws(() => parseProviders('providers: ['), /DataTableError/);
});
