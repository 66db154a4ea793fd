import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const folder = temporaryDirectory('explain');
const env = { POSTRIDER_DATA_DIR: join(folder, 'none') };

async function run(args: string[], input = '') {
  const terminal = fakeTerminal(env, { input });
  const code = await runProgram(['explain', ...args], terminal);
  return { code, output: terminal.output, errors: terminal.errors };
}

async function explain(...args: string[]) {
  const { code, output, errors } = await run([...args, '--json']);
  assert.equal(code, 0, errors);
  return JSON.parse(output);
}

test('a reply is explained without a daemon and without a data directory', async () => {
  const { class: class_, hard, suppresses, row, advice } = await explain('550 5.1.1 User unknown');
  assert.deepEqual([class_, hard, suppresses, row], ['bad-mailbox', true, 'now', 'mailbox-bad-address']);
  assert.match(advice, /Remove the address/);
});

test('phase and host decide what a reply means', async () => {
  assert.equal((await explain('550 No')).suppresses, 'repeated');
  assert.equal((await explain('550 No', '--phase', 'dot')).suppresses, 'never');
  const google = await explain('550-5.7.27 no\n550 5.7.27 SPF', '--host', 'gmail-smtp-in.l.google.com');
  assert.equal(google.row, 'authentication-of-sender');
  const spf = await explain('550 5.7.27 Not accepted', '--host', 'gmail-smtp-in.l.google.com');
  assert.equal(spf.row, 'google-spf');
  assert.equal(
    (await explain('550 5.7.27 Not accepted', '--host', 'mx.other.example')).row,
    'sender-null-mx',
  );
});

test('the text for people names the row with its source', async () => {
  const { output } = await run(['550 5.4.1 Recipient address rejected: Access denied']);
  assert.match(output, /^class +likely-bad-mailbox\nsuppresses +after bounces on two distinct days/);
  assert.match(output, /\nrow +microsoft-access-denied \(providers; source: learn\.microsoft\.com/);
});

test('the back-off rules that a reply meets are named', async () => {
  const reply = '421 4.7.28 Gmail has detected an unusual rate of mail';
  const google = ['--host', 'gmail-smtp-in.l.google.com'];
  assert.deepEqual((await explain(reply, ...google)).backOff, ['google-rate']);
  assert.deepEqual((await explain(reply)).backOff, []);
  const { output } = await run([reply, ...google]);
  assert.match(
    output,
    /\nback-off +google-rate: after 2 within 1h, the provider has at most connections 1, recipientsPerMinute 10 for 30m/,
  );
});

test('one reply a line is read from standard input, and one object a line is printed', async () => {
  const { output } = await run(['--json', '-'], '550 5.1.1 No\n\n552 5.2.2 Full\n450 4.1.1 User unknown');
  const classes = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ class: class_, hard, suppresses }) => `${class_} ${hard} ${suppresses}`);
  assert.deepEqual(classes, ['bad-mailbox true now', 'quota false never', 'unknown false never']);
});

test('files are explained as bounces, complaints and automatic replies', async () => {
  const file = (name: string, lines: string[]) => {
    writeFileSync(join(folder, name), lines.join('\r\n'));
    return join(folder, name);
  };
  const bounce = file('bounce.eml', [
    ...['From: mailer-daemon@mx.example', 'Content-Type: multipart/report; boundary=q', '', '--q'],
    ...['Content-Type: message/delivery-status', '', 'Reporting-MTA: dns; mx.example', ''],
    ...['Final-Recipient: rfc822; bob@rcpt.example', 'Action: failed', 'Status: 5.0.0'],
    ...['Diagnostic-Code: smtp; 550 User unknown', '', '--q--', ''],
  ]);
  const reply = file('reply.eml', ['From: ann@rcpt.example', 'Auto-Submitted: auto-replied', '', 'Away', '']);
  const complaint = file('complaint.eml', [
    ...[
      'From: fbl@mx.example',
      'Content-Type: multipart/report; report-type=feedback-report; boundary=q',
      '',
    ],
    ...['--q', 'Content-Type: message/feedback-report', '', 'Feedback-Type: abuse', 'User-Agent: x/1'],
    ...[
      'Version: 1',
      'Original-Rcpt-To: bob@rcpt.example',
      '',
      '--q',
      'Content-Type: text/rfc822-headers',
      '',
    ],
    ...['From: a@b.example', '', '--q--', ''],
  ]);
  const { output, errors } = await run(['--message', bounce, reply, complaint, '--json']);
  assert.equal(errors, '');
  const [first, second, third] = output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const [{ advice, ...recipient }] = first.recipients;
  assert.deepEqual(recipient, {
    address: 'bob@rcpt.example',
    class: 'bad-mailbox',
    hard: true,
    suppresses: 'now',
    row: 'refused-unknown-user',
  });
  assert.match(advice, /Remove/);
  assert.equal(second.autoReply, true);
  assert.equal(third.complaint.type, 'abuse');
  const { output: text } = await run(['--message', bounce, reply, complaint]);
  assert.match(text, /a bounce\n +bob@rcpt\.example: bad-mailbox, suppresses at once/);
});

test('a table of the configuration is used, and a mistake in it is named', async () => {
  const own = join(folder, 'own.yaml');
  const packaged = readFileSync('config/replies.yaml', 'utf8');
  writeFileSync(own, packaged.replace('id: mailbox-bad-address', 'id: my-row'));
  const config = join(folder, 'postrider.yaml');
  writeFileSync(config, 'hostname: mail.example\ndelivery: { repliesFile: own.yaml }\n');
  const terminal = fakeTerminal();
  const args = ['--config', config, 'explain', '550 5.1.1 No', '--json'];
  assert.equal(await runProgram(args, terminal), 0, terminal.errors);
  assert.equal(JSON.parse(terminal.output).row, 'my-row');
  writeFileSync(own, packaged.replace('suppresses: now', 'suppresses: soon'));
  const failed = fakeTerminal();
  assert.equal(await runProgram(args, failed), 1);
  assert.match(failed.errors, /own\.yaml: facts: row "own-null-mx": suppresses must be/);
});

test('wrong usage and files that cannot be read are named', async () => {
  mkdirSync(join(folder, 'a-folder'));
  assert.deepEqual([(await run([])).code, (await run(['550 x', '--message', 'y'])).code], [2, 2]);
  assert.equal((await run(['550 x', '--phase', 'lunch'])).code, 2);
  const { code, errors } = await run(['--message', join(folder, 'a-folder')]);
  assert.equal(code, 1);
  assert.match(errors, /a-folder cannot be read \(EISDIR\)/);
});
