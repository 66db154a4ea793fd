import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readAnswers, type SetupOptions } from '../../../src/cli/setup/answers.ts';
import { askFirst, confirmPublished, readTestAddress } from '../../../src/cli/setup/questions.ts';
import { curlLine, UNKNOWN_KEY } from '../../../src/emails/curl.ts';
import { fakeTerminal } from '../../support/fake-terminal.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const DIRECTORY = 'https://acme.example/directory';

/** A person at the terminal, who gives the same answer to every question. */
function person(answer = '') {
  const questions: string[] = [];
  const terminal = fakeTerminal({}, { interactive: true });
  terminal.ask = async (question) => {
    questions.push(question);
    return answer;
  };
  return { terminal, questions };
}

const places = () => ({ file: join(temporaryDirectory('setup'), 'config.yaml'), dataDir: '/nowhere' });

test('a person is asked for the name of a new machine, and for consent to the terms of the authority', async () => {
  const { terminal, questions } = person();
  const given = readAnswers('you@example.com', {}, terminal);
  const asked = await askFirst(terminal, places(), given);
  assert.deepEqual([asked.hostname, asked.acme], ['mail.example.com', given.acme]);
  assert.equal(questions.length, 2);
  assert.match(questions[1] ?? '', /letsencrypt\.org, and accept its terms of service\?/);

  const refusing = person('no');
  assert.equal((await askFirst(refusing.terminal, places(), given)).acme, undefined);
});

test('a configuration that is there gets no authority that nobody named', async () => {
  const at = places();
  writeFileSync(at.file, 'hostname: mx.example.com\n');
  for (const options of [{ yes: true }, {}] as SetupOptions[]) {
    const { terminal, questions } = person();
    const asked = await askFirst(terminal, at, readAnswers('you@example.com', options, terminal));
    assert.deepEqual([asked.hostname, asked.acme, questions], [undefined, undefined, []]);
  }
  const { terminal, questions } = person();
  const named = readAnswers('you@example.com', { acme: DIRECTORY }, terminal);
  assert.equal((await askFirst(terminal, at, named)).acme, DIRECTORY);
  assert.equal(questions.length, 1);
});

test('nothing is looked up before a person says that the records are published', async () => {
  const { terminal, questions } = person();
  await confirmPublished(terminal, readAnswers('you@example.com', {}, terminal));
  assert.match(questions.join(), /^Publish these records, then press Enter\./);
  await confirmPublished(terminal, readAnswers('you@example.com', { yes: true }, terminal));
  await confirmPublished(terminal, readAnswers('you@example.com', { wait: false }, terminal));
  assert.equal(questions.length, 1);
});

test('the first message goes where the option or the person says, or else to the operator outside of the domain, or to the new mailbox', async () => {
  const to = async (options: SetupOptions, answer: string, email = 'you@example.com') => {
    const { terminal } = person(answer);
    return readTestAddress(terminal, readAnswers('you@example.com', options, terminal), { email });
  };
  assert.equal(await to({}, ' friend@example.net '), 'friend@example.net');
  assert.equal(await to({}, ''), 'you@example.com');
  assert.equal(await to({ yes: true }, 'friend@example.net'), 'you@example.com');
  assert.equal(await to({ testTo: 'me@example.org' }, 'friend@example.net'), 'me@example.org');
  assert.equal(await to({ yes: true }, '', 'ops@admin.example'), 'ops@admin.example');
  assert.equal(await to({}, '', 'ops@admin.example'), 'ops@admin.example');
  assert.equal(await to({ yes: true }, '', 'ops@EXAMPLE.com'), 'you@example.com');
});

test('the line for curl is one argument each for the shell', () => {
  const send = { address: 'http://127.0.0.1:8025', from: 'hello@example.com', to: "o'neil@example.com" };
  const line = curlLine({ ...send, key: 'svc_prd_x' });
  assert.match(line, /-H 'Authorization: Bearer svc_prd_x'/);
  assert.ok(line.includes(`"o'\\''neil@example.com"`));
  assert.match(curlLine({ ...send, key: UNKNOWN_KEY }), /-H "Authorization: Bearer \$KEY"/);
});
