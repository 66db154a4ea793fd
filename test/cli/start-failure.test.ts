import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { dataDirWarning } from '../../src/cli/data-dir-warning.ts';
import { CommandError } from '../../src/cli/errors.ts';
import { explainFileError } from '../../src/cli/mailbox-transfer.ts';
import { explainStartFailure } from '../../src/cli/start-failure.ts';
import { loadConfig } from '../../src/config/config.ts';
import { ListenError } from '../../src/system/listen.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const CONFIG = loadConfig({ env: { POSTRIDER_DATA_DIR: '/srv/mail' } });

type Fields = { code?: string; syscall?: string; message?: string; file?: string; path?: string };

function explained(fields: Fields): string {
  const error = Object.assign(new Error(fields.message ?? 'no'), fields);
  const result = explainStartFailure(error, CONFIG);
  return result instanceof CommandError ? result.message : `unexplained: ${result === error}`;
}

function listening(code: string, section = 'smtp'): string {
  const at = { address: '127.0.0.1', port: 25 };
  const cause = Object.assign(new Error('no'), { code });
  const result = explainStartFailure(new ListenError({ section, at }, cause), CONFIG);
  return result instanceof CommandError ? result.message : 'unexplained';
}

test('an address that cannot be listened on is described with the settings that name it', () => {
  assert.equal(
    listening('EADDRINUSE'),
    'port 25 of 127.0.0.1 is in use by another program: stop it, or set POSTRIDER_SMTP_PORT (smtp.port)',
  );
  assert.equal(
    listening('EACCES'),
    'this user may not listen on port 25 of 127.0.0.1: set POSTRIDER_SMTP_PORT (smtp.port), or grant CAP_NET_BIND_SERVICE, as the systemd unit does',
  );
  assert.equal(
    listening('EADDRNOTAVAIL'),
    'this machine does not have the address 127.0.0.1: set POSTRIDER_SMTP_ADDRESS (smtp.address) and POSTRIDER_SMTP_PORT (smtp.port)',
  );
});

test('the second port of a section has a setting of its own', () => {
  assert.match(
    listening('EADDRINUSE', 'submission_tls'),
    /or set POSTRIDER_SUBMISSION_TLS_PORT \(submission\.tlsPort\)$/,
  );
  assert.match(
    listening('EADDRNOTAVAIL', 'imap_starttls'),
    /POSTRIDER_IMAP_ADDRESS \(imap\.address\) and POSTRIDER_IMAP_STARTTLS_PORT \(imap\.starttlsPort\)$/,
  );
});

test('any other lack of permission is about the data directory', () => {
  assert.match(
    explained({ code: 'EACCES', syscall: 'mkdir', message: "EACCES: permission denied, mkdir '/srv/mail'" }),
    /^cannot use the data directory \/srv\/mail \(EACCES: .+\): start as the user it belongs to, or set /,
  );
});

test('SQLite cannot open what another user made', () => {
  assert.match(explained({ code: 'SQLITE_CANTOPEN' }), /^cannot use the data directory /);
});

test('a storage failure is described with the file and with what to do', () => {
  for (const [code, message] of [
    ['SQLITE_NOTADB', /^\/srv\/mail\/postrider\.db is not a database: .+ put a backup in its place$/],
    ['SQLITE_CORRUPT', /^\/srv\/mail\/postrider\.db is damaged .+ put a backup in its place; "sqlite3 /],
    ['SQLITE_READONLY', /^\/srv\/mail\/postrider\.db cannot be written .+: see chown and chmod$/],
    ['SQLITE_READONLY_DIRECTORY', /^\/srv\/mail\/postrider\.db cannot be written /],
    ['SQLITE_FULL', /^the disk of \/srv\/mail is full \(SQLITE_FULL\)\. Free some space/],
    ['SQLITE_IOERR_SHMSIZE', /^the disk of \/srv\/mail is full /],
    ['ENOSPC', /^the disk of \/srv\/mail is full /],
    ['EDQUOT', /^the disk quota of \/srv\/mail is used up \(EDQUOT\)\. Raise the quota/],
    ['SQLITE_IOERR_READ', /^reading or writing \/srv\/mail\/postrider\.db failed .+ Check the disk/],
  ] as const) {
    assert.match(explained({ code }), message, code);
  }
});

test('the message is about the file that the error names', () => {
  const lock = explained({ code: 'SQLITE_NOTADB', file: '/srv/mail/lock.db' });
  assert.match(lock, /^\/srv\/mail\/lock\.db is damaged .+ delete it and start again$/);
  assert.match(
    explained({ code: 'EIO', path: '/srv/mail/blobs/ab' }),
    /writing \/srv\/mail\/blobs\/ab failed/,
  );
});

test('an error that the operator cannot act on stays unchanged', () => {
  assert.equal(explained({ code: 'SQLITE_CONSTRAINT' }), 'unexplained: true');
  assert.equal(explained({ code: 'EMFILE', syscall: 'listen' }), 'unexplained: true');
  assert.equal(explained({}), 'unexplained: true');
});

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return undefined;
}

test('an error about a path says in plain words what is wrong with it', () => {
  const directory = temporaryDirectory('file-errors');
  const file = join(directory, 'file');
  writeFileSync(file, '');
  const missing = join(directory, 'none');
  assert.equal(
    explainFileError(errorOf(() => readFileSync(missing))),
    `${missing}: there is no such file or directory`,
  );
  assert.equal(
    explainFileError(errorOf(() => readFileSync(join(file, 'below')))),
    `${join(file, 'below')}: a part of the path is a file, not a directory`,
  );
  assert.equal(
    explainFileError(errorOf(() => readdirSync(file))),
    `${file}: a part of the path is a file, not a directory`,
  );
});

test('an error that is not about a path stays a bug', () => {
  assert.equal(explainFileError(new TypeError('x is undefined')), undefined);
  assert.equal(explainFileError(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })), undefined);
  assert.equal(explainFileError(Object.assign(new Error('gone'), { code: 'ENOENT' })), undefined, 'no path');
});

test('a configuration file without dataDir does not reuse development data without a warning', () => {
  const dataDir = temporaryDirectory('data-dir-warning');
  const file = join(dataDir, 'config.yaml');
  writeFileSync(file, 'hostname: mail.example.com\n');
  const config = { ...loadConfig({ file, env: {} }), dataDir };
  assert.equal(dataDirWarning(config), undefined, 'an empty directory holds nothing to warn about');

  writeFileSync(join(dataDir, 'postrider.db'), '');
  assert.match(dataDirWarning(config) ?? '', /names no dataDir.*set dataDir \(POSTRIDER_DATA_DIR\)/);
  assert.equal(
    dataDirWarning({ ...loadConfig({ env: {} }), dataDir }),
    undefined,
    'without a file it is meant',
  );
  const named = loadConfig({ file, env: { POSTRIDER_DATA_DIR: dataDir } });
  assert.equal(dataDirWarning(named), undefined, 'a named directory is meant');
});
