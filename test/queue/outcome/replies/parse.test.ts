import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseReplies } from '../../../../src/queue/outcome/replies/parse.ts';

const packaged = readFileSync('config/replies.yaml', 'utf8');

/** Returns the message with which a changed copy of the packaged table is refused. */
function refused(pattern: string | RegExp, replacement: string): string {
  const changed = packaged.replace(pattern, replacement);
  assert.notEqual(changed, packaged);
  try {
    parseReplies(changed);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('the table was taken');
}

test('a mistake is refused with its row and its field', () => {
  assert.match(
    refused('class: bad-domain, suppresses: now', 'class: bad-domain, suppresses: soon'),
    /^facts: row "own-null-mx": suppresses /,
  );
  assert.match(
    refused('- { id: own-loop,', '- { id: own-loop, colour: red,'),
    /^facts: row "own-loop": must not have/,
  );
  assert.match(refused('id: own-loop', 'id: own-dns'), /row "own-dns": another row has the same id/);
  assert.match(refused('provider: yandex', 'provider: nobody'), /"hosts" does not name the provider nobody/);
  assert.match(
    refused('text: access denied', 'text: "* denied"'),
    /^providers: row "microsoft-access-denied": the phrase/,
  );
  assert.match(refused('fact: null-mx, ', ''), /"fact" belongs to each row of "facts"/);
  assert.match(
    refused(/ {4}class: greylist\n {4}suppresses: never/, '    class: greylist\n    suppresses: now'),
    /row "greylisted": a veto never suppresses/,
  );
});

test('text that is no YAML, no table or has no class is refused in one line', () => {
  for (const text of ['rows: [', '', 'hello', '[]', 'facts: 1']) {
    assert.throws(
      () => parseReplies(text),
      (error: Error) => error.name === 'DataTableError' && !error.message.includes('\n'),
    );
  }
  assert.match(refused(/^ {2}greylist: .*\n/m, ''), /"classes" does not describe greylist/);
});
