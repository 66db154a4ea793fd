/** Sessions with a server, as data. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createClient, startServer } from './fixture.ts';

/** Text to send, without the CRLF that is added, and the codes of its replies. `-` stands for the end of the connection. */
type Step = { send: string; codes: string };

type Script = {
  name: string;
  steps: readonly Step[];
  /** Contents of the messages that arrive. */
  messages?: readonly string[];
};

const EHLO: Step = { send: 'EHLO client.example', codes: '250' };
const MAIL: Step = { send: 'MAIL FROM:<a@sender.example>', codes: '250' };
const RCPT: Step = { send: 'RCPT TO:<b@test.example>', codes: '250' };
const DATA: Step = { send: 'DATA', codes: '354' };
const TRANSACTION = [EHLO, MAIL, RCPT, DATA];

const step = (send: string, codes: string): Step => ({ send, codes });

const SCRIPTS: readonly Script[] = [
  {
    name: 'a message',
    steps: [...TRANSACTION, step('Subject: x\r\n\r\nbody\r\n.', '250')],
    messages: ['Subject: x\r\n\r\nbody\r\n'],
  },
  {
    name: 'two messages in one session',
    steps: [...TRANSACTION, step('one\r\n.', '250'), MAIL, RCPT, DATA, step('..two\r\n....\r\n.', '250')],
    messages: ['one\r\n', '.two\r\n...\r\n'],
  },
  {
    name: 'a dot that the client has not doubled',
    steps: [...TRANSACTION, step('.one\r\n.', '250')],
    messages: ['one\r\n'],
  },
  {
    name: 'an empty message',
    steps: [...TRANSACTION, step('.', '250')],
    messages: [''],
  },
  {
    name: 'a group of commands',
    steps: [EHLO, step(`${MAIL.send}\r\n${RCPT.send}\r\nDATA`, '250 250 354'), step('x\r\n.', '250')],
    messages: ['x\r\n'],
  },
  {
    name: 'commands in small letters, and spaces at their end',
    steps: [
      step('ehlo client.example  ', '250'),
      step('mail from:<a@sender.example>  ', '250'),
      step('rcpt to:<b@test.example> ', '250'),
      step('data ', '354'),
      step('x\r\n.', '250'),
    ],
    messages: ['x\r\n'],
  },
  { name: 'HELO', steps: [step('HELO client.example', '250'), MAIL, RCPT] },
  { name: 'the null sender', steps: [EHLO, step('MAIL FROM:<>', '250'), RCPT] },
  {
    name: 'commands before a greeting',
    steps: [step(MAIL.send, '503'), step(RCPT.send, '503'), step('DATA', '503'), step('RSET', '250')],
  },
  {
    name: 'commands out of sequence',
    steps: [
      EHLO,
      step(RCPT.send, '503'),
      step('DATA', '503'),
      MAIL,
      step(MAIL.send, '503'),
      step('DATA', '554'),
      step('RSET', '250'),
      step(RCPT.send, '503'),
    ],
  },
  {
    name: 'a greeting ends the transaction',
    steps: [EHLO, MAIL, EHLO, step(RCPT.send, '503')],
  },
  {
    name: 'a greeting without a name, or with one that cannot stand in a header field',
    steps: [
      step('EHLO', '501'),
      step('EHLO a b', '501'),
      step('HELO <script>', '501'),
      step('EHLO [127.0.0.1]', '250'),
      step('EHLO host_1.example', '250'),
    ],
  },
  {
    name: 'commands that tell nothing',
    steps: [
      step('NOOP', '250'),
      step('HELP', '214'),
      step('VRFY postmaster', '252'),
      step('EXPN list', '502'),
      step('WHAT', '500'),
      step('', '500'),
      step('STARTTLS', '502'),
    ],
  },
  {
    name: 'parameters',
    steps: [
      EHLO,
      step('MAIL FROM:<a@sender.example> SIZE=1000 BODY=8BITMIME SMTPUTF8', '250'),
      step('RSET', '250'),
      step('MAIL FROM:<a@sender.example> SIZE=99999999999', '552'),
      step('MAIL FROM:<a@sender.example> SIZE=x', '501'),
      step('MAIL FROM:<a@sender.example> BODY=BINARYMIME', '501'),
      step('MAIL FROM:<a@sender.example> SIZE=1 SIZE=2', '501'),
      step('MAIL FROM:<a@sender.example> REQUIRETLS', '555'),
      step('MAIL FROM:<a@sender.example> X-UNKNOWN=1', '555'),
      step('RSET', '250'),
      MAIL,
      step('RCPT TO:<b@test.example> NOTIFY=NEVER', '555'),
    ],
  },
  {
    name: 'UTF-8 in addresses',
    steps: [
      EHLO,
      step('MAIL FROM:<jürgen@sender.example>', '550'),
      step('RSET', '250'),
      step('MAIL FROM:<jürgen@bücher.example> SMTPUTF8', '250'),
      step('RCPT TO:<jürgen@bücher.example>', '250'),
      step('RSET', '250'),
      MAIL,
      step('RCPT TO:<jürgen@bücher.example>', '553'),
    ],
  },
  {
    name: 'a recipient that is refused',
    steps: [EHLO, MAIL, step('RCPT TO:<nobody@test.example>', '550'), RCPT, DATA, step('x\r\n.', '250')],
    messages: ['x\r\n'],
  },
  {
    name: 'a group whose recipients are all refused',
    steps: [EHLO, step(`${MAIL.send}\r\nRCPT TO:<nobody@test.example>\r\nDATA`, '250 550 554')],
  },
  {
    name: 'a bare LF ends no command',
    steps: [EHLO, step('MAIL FROM:<a@sender.example>\nRCPT TO:<b@test.example>', '500 -')],
  },
  {
    name: 'a command with control characters',
    steps: [EHLO, step('NOOP \u0000', '500')],
  },
  {
    name: 'data before the 354',
    steps: [EHLO, MAIL, RCPT, step('DATA\r\nx\r\n.', '503 -')],
    messages: [],
  },
  {
    name: 'commands after EHLO in the same group',
    steps: [step(`EHLO client.example\r\n${MAIL.send}`, '503 -')],
  },
  {
    name: 'a group that goes on after the message',
    steps: [...TRANSACTION, step(`x\r\n.\r\n${MAIL.send}\r\n${RCPT.send}`, '250 250 250')],
    messages: ['x\r\n'],
  },
];

const isNobody = (address: string): boolean => address.startsWith('nobody@');

/** Returns the codes of each step when `expected` of them come. A session that is still open is ended by QUIT. */
async function run(port: number, script: Script, expected: readonly string[]): Promise<string[]> {
  const client = createClient(connect({ host: '127.0.0.1', port, noDelay: true }));
  assert.match(await client.reply(), /^220 /);
  const codes: string[] = [];
  for (const [index, { send }] of script.steps.entries()) {
    client.send(`${send}\r\n`);
    const replies: string[] = [];
    for (let left = (expected[index] ?? '').split(' ').length; left > 0; left--) {
      const reply = await client.reply();
      replies.push(reply === 'closed' ? '-' : reply.slice(0, 3));
    }
    codes.push(replies.join(' '));
    if (replies.includes('-')) return codes;
  }
  client.send('QUIT\r\n');
  assert.deepEqual(await client.rest(), ['221', 'closed'], 'there are more replies than commands');
  return codes;
}

test('every script runs as it says', async (t) => {
  const { port, sessions } = await startServer(t, {
    hooks: {
      rcpt: async ({ address }) =>
        isNobody(address) ? { code: 550, status: '5.1.1', text: 'No such user' } : undefined,
    },
  });
  await Promise.all(
    SCRIPTS.map(async (script) => {
      const codes = script.steps.map((step) => step.codes);
      assert.deepEqual(await run(port, script, codes), codes, script.name);
    }),
  );
  const contents = SCRIPTS.flatMap(({ messages = [] }) => messages);
  assert.deepEqual(sessions.messages.map(({ content }) => content.toString()).sort(), contents.sort());
  assert.equal(sessions.openSessions(), 0);
});
