import assert from 'node:assert/strict';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { finishReplacement, replaceContent, stagingFolder } from '../../../src/db/installation/replace.ts';
import { temporaryDirectory } from '../open.ts';

const OLD = ['postrider.db', 'postrider.db-wal', 'master.key', 'tls'];
const NEW = ['postrider.db', 'master.key', 'blobs'];

/** Makes a directory with old content, new content, and a plan that was written when `replaceContent` was interrupted. */
function interrupted(): string {
  const directory = temporaryDirectory();
  mkdirSync(stagingFolder(directory));
  for (const name of [...OLD, 'lock.db']) writeFileSync(join(directory, name), 'old');
  for (const name of NEW) writeFileSync(join(stagingFolder(directory), name), 'new');
  assert.throws(() =>
    replaceContent(directory, {
      staying: ['kept', 'backups'],
      now: 7,
      crashPoint: () => {
        throw new Error('killed');
      },
    }),
  );
  return directory;
}

function contentOf(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  );
}

function checkReplaced(directory: string): void {
  const old = join(directory, 'replaced-7');
  assert.deepEqual(contentOf(old), Object.fromEntries(OLD.toSorted().map((name) => [name, 'old'])));
  rmSync(old, { recursive: true });
  assert.deepEqual(contentOf(directory), {
    blobs: 'new',
    'lock.db': 'old',
    'master.key': 'new',
    'postrider.db': 'new',
  });
}

test('a replacement that is interrupted after any of its renames is completed', () => {
  const moves = [
    ...OLD.map((name) => [name, join('replaced-7', name)] as const),
    ...NEW.map((name) => [join('restore', name), name] as const),
  ];
  for (let done = 0; done <= moves.length; done++) {
    const directory = interrupted();
    mkdirSync(join(directory, 'replaced-7'));
    for (const [from, to] of moves.slice(0, done)) renameSync(join(directory, from), join(directory, to));
    finishReplacement(directory);
    checkReplaced(directory);
    finishReplacement(directory);
  }
});

test('names that stay are not moved', () => {
  const directory = interrupted();
  const staying = ['kept', 'backups', 'control.sock', 'replaced-1', 'lost+found'];
  for (const name of staying) writeFileSync(join(directory, name), 'old');
  finishReplacement(directory);
  for (const name of staying) assert.ok(existsSync(join(directory, name)), name);
});

test('a folder that stays and is restored too is refused before anything is changed', () => {
  const directory = temporaryDirectory();
  for (const name of ['var', 'restore/var']) mkdirSync(join(directory, name), { recursive: true });
  for (const name of ['var/old', 'restore/var/new', 'master.key']) writeFileSync(join(directory, name), '');
  const options = { staying: ['var'], now: 7, crashPoint: () => {} };
  assert.throws(
    () => replaceContent(directory, options),
    /var has the backups, .* move the backups elsewhere/,
  );
  assert.deepEqual(readdirSync(directory).sort(), ['master.key', 'restore', 'var']);
});

test('a damaged plan is reported, and nothing is moved', () => {
  const directory = interrupted();
  writeFileSync(join(directory, 'restore.json'), '{');
  const copy = `${directory}-before`;
  cpSync(directory, copy, { recursive: true });
  assert.throws(() => finishReplacement(directory), { name: 'DataDirectoryError' });
  assert.deepEqual(readdirSync(directory), readdirSync(copy));
  rmSync(copy, { recursive: true });
});

const whole = { staying: ['backups'], now: 7, crashPoint: () => {} };

test('a name that cannot be moved leaves the old content in its place', () => {
  const directory = temporaryDirectory();
  mkdirSync(stagingFolder(directory));
  writeFileSync(join(stagingFolder(directory), 'postrider.db'), 'new');
  writeFileSync(join(directory, 'postrider.db'), 'old');
  mkdirSync(join(directory, 'tls'));
  // No rename replaces a directory that is not empty.
  mkdirSync(join(directory, 'replaced-7', 'tls', 'kept'), { recursive: true });
  assert.throws(
    () => replaceContent(directory, whole),
    /tls cannot be moved to .*restore into another directory/,
  );
  assert.deepEqual(readdirSync(directory).sort(), ['postrider.db', 'replaced-7', 'restore', 'tls']);
  assert.equal(readFileSync(join(directory, 'postrider.db'), 'utf8'), 'old');
  finishReplacement(directory);
  assert.equal(readFileSync(join(directory, 'postrider.db'), 'utf8'), 'old');
});

test('a directory of another user is refused before anything is moved', (t) => {
  const [nobody, root] = [65_534, process.geteuid?.()];
  if (root !== 0) return t.skip('only root can give files to other users');
  const directory = temporaryDirectory();
  mkdirSync(stagingFolder(directory));
  writeFileSync(join(directory, 'postrider.db'), 'old');
  mkdirSync(join(directory, 'tls'));
  for (const name of ['.', 'restore', 'postrider.db']) chownSync(join(directory, name), nobody, nobody);
  process.seteuid?.(nobody);
  try {
    assert.throws(
      () => replaceContent(directory, whole),
      /tls belongs to another user \(0\) .*"chown -R" .* for the user 65534\. Nothing was changed/,
    );
  } finally {
    process.seteuid?.(root);
  }
  assert.deepEqual(readdirSync(directory).sort(), ['postrider.db', 'restore', 'tls']);
});
