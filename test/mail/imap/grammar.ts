/**
 * Commands of the grammar of RFC 9051 section 9 and its extensions, some of them with slips, for tests with hostile clients. Every literal
 * is complete, so that the end of each command is known.
 */
import fc from 'fast-check';
import type { TestClient } from './fixture.ts';

const pick = <Value>(...values: Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
/** Joins parts with spaces. */
const words = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
  fc.tuple(...parts).map((all) => all.filter((part) => part !== '').join(' '));
const listOf = (item: fc.Arbitrary<string>, minLength = 1): fc.Arbitrary<string> =>
  fc.array(item, { minLength, maxLength: 4 }).map((items) => `(${items.join(' ')})`);
const optional = (part: fc.Arbitrary<string>): fc.Arbitrary<string> => fc.oneof(fc.constant(''), part);

const text = pick(
  '',
  'a',
  'Subject',
  'x y',
  'body of',
  '\u00fc',
  '%',
  '\\\\',
  'INBOX/INBOX',
  '&AOk-',
  '~a',
  'NIL',
  ']',
);
const astring = fc.tuple(text, pick('atom', 'quoted', 'literal')).map(([value, form]) => {
  const octets = Buffer.from(value);
  if (form === 'literal') return `{${octets.length}+}\r\n${octets.toString('latin1')}`;
  return form === 'atom' && /^[A-Za-z/&~\]-]+$/.test(value) ? value : `"${octets.toString('latin1')}"`;
});
const mailbox = fc.oneof(pick('INBOX', 'inbox', 'a', 'a/b', '"a b"', 'Trash', 'missing'), astring);
const pattern = fc.oneof(pick('*', '%', '""', 'a/%', '"%b*"'), astring);
const set = pick('1', '*', '1:*', '3:1', '1,3', '$', '99:*', '2:4294967295', '4294967296', '0');
const flag = pick('\\Seen', '\\Deleted', '\\Flagged', '$a', 'b', '\\Recent', '\\x');
const date = pick('1-Jan-2026', '"01-Feb-2025"', '31-Feb-2026');
const number = pick('0', '1', '100', '4294967295', '99999999999999999999');

const section = pick(
  ...[
    '',
    'HEADER',
    'TEXT',
    '1',
    '1.2',
    '1.MIME',
    '1.HEADER',
    'HEADER.FIELDS (SUBJECT "To")',
    'MIME',
    '0',
    '1.1.1.1.1',
  ],
);
const fetchItem = fc.oneof(
  pick('ALL', 'FAST', 'FULL', 'FLAGS', 'UID', 'ENVELOPE', 'BODY', 'BODYSTRUCTURE', 'INTERNALDATE', 'RFC822'),
  pick(
    'RFC822.SIZE',
    'RFC822.HEADER',
    'MODSEQ',
    'EMAILID',
    'THREADID',
    'PREVIEW',
    'PREVIEW (LAZY)',
    'SAVEDATE',
  ),
  fc
    .tuple(
      pick('BODY', 'BODY.PEEK', 'BINARY', 'BINARY.PEEK', 'BINARY.SIZE'),
      section,
      pick('', '<0.5>', '<9.0>'),
    )
    .map(([name, part, partial]) => `${name}[${part}]${partial}`),
);
const { key: searchKey } = fc.letrec<{ key: string }>((tie) => ({
  key: fc.oneof(
    { maxDepth: 4 },
    pick('ALL', 'SEEN', 'UNSEEN', 'DELETED', 'RECENT', 'NEW', 'OLD', 'DRAFT', 'UNKEYWORD $a', '1:*', '$'),
    words(pick('FROM', 'TO', 'SUBJECT', 'BODY', 'TEXT', 'CC', 'BCC', 'HEADER Subject'), astring),
    words(pick('BEFORE', 'ON', 'SINCE', 'SENTON', 'SENTSINCE', 'SAVEDBEFORE'), date),
    words(pick('LARGER', 'SMALLER', 'OLDER', 'YOUNGER', 'MODSEQ'), number),
    words(fc.constant('UID'), set),
    words(fc.constant('NOT'), tie('key')),
    words(fc.constant('OR'), tie('key'), tie('key')),
    tie('key').map((key) => `(${key})`),
  ),
}));
const search = words(
  optional(
    listOf(pick('MIN', 'MAX', 'ALL', 'COUNT', 'SAVE', 'PARTIAL 1:10'), 0).map((list) => `RETURN ${list}`),
  ),
  optional(pick('CHARSET UTF-8', 'CHARSET US-ASCII', 'CHARSET x')),
  searchKey,
);
const message = pick(
  'Subject: a\r\n\r\nb\r\n',
  'a',
  '',
  'Content-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\na\r\n--x--\r\n',
);
const appended = fc
  .tuple(optional(listOf(flag, 0)), pick('', '"01-Jan-2026 00:00:00 +0000"'), message)
  .map((parts) => {
    const [flags, at, octets] = parts as [string, string, string];
    return [flags, at, `{${octets.length}+}\r\n${octets}`].filter((part) => part !== '').join(' ');
  });
const uid = pick('', 'UID');
const statusItems = listOf(
  pick('MESSAGES', 'UIDNEXT', 'UNSEEN', 'SIZE', 'RECENT', 'HIGHESTMODSEQ', 'DELETED', 'x'),
  0,
);

const valid = fc.oneof(
  pick(
    'NOOP',
    'CHECK',
    'CLOSE',
    'UNSELECT',
    'EXPUNGE',
    'CAPABILITY',
    'NAMESPACE',
    'IDLE',
    'ID NIL',
    'GETQUOTAROOT INBOX',
  ),
  words(pick('SELECT', 'EXAMINE'), mailbox, optional(pick('(CONDSTORE)', '(QRESYNC (1 2 1:9))'))),
  words(pick('CREATE', 'DELETE', 'SUBSCRIBE', 'UNSUBSCRIBE', 'GETQUOTA', 'GETQUOTAROOT'), mailbox),
  words(fc.constant('RENAME'), mailbox, mailbox),
  words(fc.constant('STATUS'), mailbox, statusItems),
  words(
    pick('LIST', 'LSUB', 'LIST (SUBSCRIBED)', 'LIST (SPECIAL-USE)', 'LIST (RECURSIVEMATCH)'),
    mailbox,
    pattern,
  ),
  words(
    fc.constant('LIST ""'),
    listOf(pattern),
    words(fc.constant('RETURN'), listOf(pick('CHILDREN', 'SUBSCRIBED', 'STATUS (MESSAGES)'))),
  ),
  words(fc.constant('ENABLE'), pick('CONDSTORE', 'QRESYNC', 'UTF8=ACCEPT', 'IMAP4rev2', 'x')),
  words(
    uid,
    fc.constant('FETCH'),
    set,
    fc.oneof(fetchItem, listOf(fetchItem)),
    optional(pick('(CHANGEDSINCE 1)', '(CHANGEDSINCE 0 VANISHED)', '(PARTIAL 1:2)')),
  ),
  words(
    uid,
    fc.constant('STORE'),
    set,
    optional(pick('(UNCHANGEDSINCE 9)')),
    pick('FLAGS', '+FLAGS', '-FLAGS.SILENT'),
    fc.oneof(flag, listOf(flag, 0)),
  ),
  words(uid, pick('COPY', 'MOVE'), set, mailbox),
  words(uid, fc.constant('SEARCH'), search),
  words(
    uid,
    pick('SORT (SUBJECT)', 'SORT (REVERSE DATE ARRIVAL)', 'THREAD REFERENCES', 'THREAD ORDEREDSUBJECT'),
    pick('UTF-8', 'US-ASCII'),
    searchKey,
  ),
  words(fc.constant('UID EXPUNGE'), set),
  words(fc.constant('APPEND'), mailbox, appended),
  words(uid, fc.constant('REPLACE'), set, mailbox, appended),
  words(
    pick('GETMETADATA', 'GETMETADATA (DEPTH 1)'),
    mailbox,
    pick('/private/comment', '(/shared/comment)', '/x'),
  ),
  words(
    fc.constant('SETMETADATA'),
    mailbox,
    pick('(/private/comment "a")', '(/private/comment NIL)', '(/x y)'),
  ),
);

/** Octets that mean something to a parser. None of them announces a literal. */
const SLIPS = [
  '(',
  ')',
  '"',
  '\\',
  ' ',
  '*',
  '%',
  ':',
  ',',
  '[',
  ']',
  '<',
  '>',
  '$',
  '\0',
  '\xff',
  '\t',
  'NIL',
  '1',
];
const slip = fc.record({
  at: fc.nat(),
  removed: fc.nat({ max: 3 }),
  added: fc.array(pick(...SLIPS), { maxLength: 3 }),
});

/** A command without its tag and without CRLF. */
export const grammarCommand: fc.Arbitrary<string> = fc
  .tuple(valid, fc.option(slip, { freq: 3 }))
  .map(([command, wrong]) => {
    if (!wrong || command.includes('\r\n')) return command;
    const at = wrong.at % (command.length + 1);
    return command.slice(0, at) + wrong.added.join('') + command.slice(at + wrong.removed);
  });

const STATUS = /^(?:\* (?:OK|NO|BAD|BYE|PREAUTH)|t\d+ (?:OK|NO|BAD)) (?:\[[^\r\n]+?\] )?[ -~]+$/;

/** Returns true for a complete response: a status, a continuation request, or data whose parentheses and strings are closed. */
function isWellFormed(line: string): boolean {
  if (line.startsWith('+ ') || STATUS.test(line)) return true;
  if (!line.startsWith('* ')) return false;
  let depth = 0;
  for (let at = 2; at < line.length; at++) {
    const character = line[at];
    if (character === '(') depth++;
    if (character === ')' && --depth < 0) return false;
    if (character === '"') {
      for (at++; line[at] !== '"'; at++) {
        if (at >= line.length || line[at] === '\r' || line[at] === '\n') return false;
        if (line[at] === '\\') at++;
      }
    }
    if (character === '\r' || character === '\n') return false;
    const literal = character === '{' ? /^\{(\d+)\}\r\n/.exec(line.slice(at, at + 24)) : null;
    if (literal) at += literal[0].length + Number(literal[1]) - 1;
  }
  return depth === 0;
}

/** Sends commands at once and then LOGOUT. Returns what is wrong with the responses. */
export async function findFaults(client: TestClient, commands: readonly string[]): Promise<string[]> {
  const tags = [...commands.map((_, index) => `t${index + 100}`), 't999'];
  client.send(`${commands.map((text, index) => `${tags[index]} ${text}\r\n`).join('')}t999 LOGOUT\r\n`);
  const lines = await client.rest();
  const completed = lines.flatMap((line) => line.match(/^t\d+(?= )/g) ?? []);
  const faults = lines.filter((line) => !isWellFormed(line)).map((line) => `not well formed: ${line}`);
  if (completed.join() !== tags.join())
    faults.push(
      `completed ${completed.join()} of ${JSON.stringify(commands)}: ${lines.slice(-3).join(' | ')}`,
    );
  return faults;
}
