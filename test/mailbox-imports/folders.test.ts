import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ListedSource, mapFolders } from '../../src/mailbox-imports/source/folders.ts';
import { formatUids, keptFlags } from '../../src/mailbox-imports/source/messages.ts';

const TARGETS = [
  { name: 'Gesendet', specialUse: '\\Sent' },
  { name: 'Trash', specialUse: '\\Trash' },
];

type Listed = { path: string; use?: string; flags?: string[]; delimiter?: string; isGuess?: boolean };

const listed = ({ path, use, flags = [], delimiter = '/', isGuess }: Listed): ListedSource => ({
  path,
  delimiter,
  flags: new Set(flags),
  ...(use && { specialUse: use, specialUseSource: isGuess ? 'name' : 'extension' }),
});

/** Returns the folders, each as `path > target`. */
function map(
  folders: readonly Listed[],
  options: { own?: string[]; others?: string[]; hasLabels?: boolean } = {},
) {
  const { own = [''], others = [], hasLabels = false } = options;
  return mapFolders(folders.map(listed), { targets: TARGETS, namespaces: { own, others }, hasLabels }).map(
    ({ path, target }) => `${path} > ${target}`,
  );
}

test('folders with a special use go to those of the mailbox, whatever their names are', () => {
  assert.deepEqual(
    map([
      { path: 'Papelera', use: '\\Trash' },
      { path: 'Sent Items', use: '\\Sent', isGuess: true },
      { path: 'inbox', use: '\\Inbox' },
      { path: 'Spam', use: '\\Junk' },
      { path: 'Work' },
    ]),
    ['inbox > INBOX', 'Sent Items > Gesendet', 'Work > Work', 'Spam > Junk', 'Papelera > Trash'],
  );
});

test('levels keep their order with any delimiter, and a prefix of all folders is left out', () => {
  const own = ['INBOX.'];
  assert.deepEqual(
    map(
      [
        { path: 'INBOX', use: '\\Inbox', delimiter: '.' },
        { path: 'INBOX.Lists.dev', delimiter: '.' },
        { path: 'INBOX.a/b', delimiter: '.' },
        { path: 'Flat' },
      ],
      { own },
    ),
    ['INBOX > INBOX', 'Flat > Flat', 'INBOX.Lists.dev > Lists/dev', 'INBOX.a/b > a_b'],
  );
});

test('folders of others, names without messages and views of other folders are left out', () => {
  const folders = [
    { path: 'shared/team' },
    { path: 'parent', flags: ['\\Noselect'] },
    { path: 'gone', flags: ['\\NonExistent'] },
    { path: 'Starred', use: '\\Flagged' },
    { path: 'Important', flags: ['\\Important'] },
    { path: 'All', use: '\\All' },
    { path: 'kept' },
  ];
  assert.deepEqual(map(folders, { others: ['shared/'] }), ['kept > kept']);
});

test('where messages have labels, all mail comes after the labels and goes to the archive', () => {
  const folders = [
    { path: '[Gmail]/All Mail', use: '\\All' },
    { path: '[Gmail]/Trash', use: '\\Trash' },
    { path: 'Work' },
    { path: 'INBOX', use: '\\Inbox' },
  ];
  assert.deepEqual(map(folders, { hasLabels: true }), [
    'INBOX > INBOX',
    'Work > Work',
    '[Gmail]/All Mail > Archive',
    '[Gmail]/Trash > Trash',
  ]);
});

test('names that no folder can have are changed', () => {
  assert.deepEqual(map([{ path: '//a//b/' }, { path: 'c\u0001d' }]), ['//a//b/ > a/b', 'c\u0001d > c_d']);
});

test('flags and keywords are kept unless no message can have them, and labels become keywords', () => {
  const flags = ['\\Seen', '\\Recent', '$Forwarded', 'a b', 'x'.repeat(101), '(', ''];
  assert.deepEqual(keptFlags(flags, ['\\Inbox', 'Two Words', 'Ä']), [
    '\\Seen',
    '$Forwarded',
    'Two_Words',
    '&AMQ-',
  ]);
  const many = Array.from({ length: 1_000 }, (_, index) => `k${index}`);
  assert.equal(keptFlags(many).length, 50);
});

test('UIDs that follow each other are a range', () => {
  assert.equal(formatUids([1, 2, 3, 5, 7, 8]), '1:3,5,7:8');
  assert.equal(formatUids([]), '');
});
