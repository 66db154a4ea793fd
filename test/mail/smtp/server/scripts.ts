/**
 * Sessions with a server, as data. Each runs against this server and against npm smtp-server, an independent one, and
 * each difference between the two has its reason.
 */

/** Text to send, without the CRLF that is added, and the codes of its replies. `-` stands for the end of the connection. */
type Step = {
  send: string;
  codes: string;
  /** Codes of smtp-server where they differ, and why this server does not do the same. */
  other?: { codes: string; because: string };
};

export type Script = {
  name: string;
  steps: readonly Step[];
  /** Contents of the messages that arrive. */
  messages?: readonly string[];
  /** Contents at smtp-server where they differ, and why. */
  other?: { messages: readonly string[]; because: string };
};

const EHLO: Step = { send: 'EHLO client.example', codes: '250' };
const MAIL: Step = { send: 'MAIL FROM:<a@sender.example>', codes: '250' };
const RCPT: Step = { send: 'RCPT TO:<b@test.example>', codes: '250' };
const DATA: Step = { send: 'DATA', codes: '354' };
const TRANSACTION = [EHLO, MAIL, RCPT, DATA];

function step(send: string, codes: string, other?: string, because = ''): Step {
  return { send, codes, ...(other && { other: { codes: other, because } }) };
}

export const SCRIPTS: readonly Script[] = [
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
    other: {
      messages: ['.one\r\n'],
      because: 'the first dot of a line with other text is removed (RFC 5321 section 4.5.2)',
    },
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
      step('DATA', '554', '503', 'a client that pipelines learns that all recipients were refused'),
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
      step('HELO <script>', '501', '250', 'the name goes into the Received field'),
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
      step('EXPN list', '502', '500', 'the command is known, and its answer is no'),
      step('WHAT', '500'),
      step('', '500'),
      step('STARTTLS', '502', '500', 'the command is known, and TLS is not offered here'),
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
      step(
        'MAIL FROM:<a@sender.example> REQUIRETLS',
        '555',
        '530',
        'a parameter that is not offered is unknown',
      ),
      step('MAIL FROM:<a@sender.example> X-UNKNOWN=1', '555', '250', 'what it asks for would not be done'),
      step('RSET', '250'),
      MAIL,
      step('RCPT TO:<b@test.example> NOTIFY=NEVER', '555', '250', 'what it asks for would not be done'),
    ],
  },
  {
    name: 'UTF-8 in addresses',
    steps: [
      EHLO,
      step('MAIL FROM:<jürgen@sender.example>', '550', '250', 'it needs the parameter SMTPUTF8'),
      step('RSET', '250'),
      step('MAIL FROM:<jürgen@bücher.example> SMTPUTF8', '250'),
      step('RCPT TO:<jürgen@bücher.example>', '250'),
      step('RSET', '250'),
      MAIL,
      step('RCPT TO:<jürgen@bücher.example>', '553', '250', 'the message was announced without SMTPUTF8'),
    ],
  },
  {
    name: 'a recipient that is refused',
    steps: [EHLO, MAIL, step('RCPT TO:<nobody@test.example>', '550'), RCPT, DATA, step('x\r\n.', '250')],
    messages: ['x\r\n'],
  },
  {
    name: 'a group whose recipients are all refused',
    steps: [
      EHLO,
      step(
        `${MAIL.send}\r\nRCPT TO:<nobody@test.example>\r\nDATA`,
        '250 550 554',
        '250 550 503',
        'the text says that there is no recipient',
      ),
    ],
  },
  {
    name: 'a bare LF ends no command',
    steps: [
      EHLO,
      step(
        'MAIL FROM:<a@sender.example>\nRCPT TO:<b@test.example>',
        '500 -',
        '250 250',
        'two servers would count differently',
      ),
    ],
  },
  {
    name: 'a command with control characters',
    steps: [EHLO, step('NOOP \u0000', '500', '250', 'programs in C would see another command')],
  },
  {
    name: 'data before the 354',
    steps: [
      EHLO,
      MAIL,
      RCPT,
      step('DATA\r\nx\r\n.', '503 -', '354 250', 'a client that does not wait may mean its text as commands'),
    ],
    messages: [],
    other: { messages: ['x\r\n'], because: 'it did not wait for the client either' },
  },
  {
    name: 'commands after EHLO in the same group',
    steps: [
      step(`EHLO client.example\r\n${MAIL.send}`, '503 -', '250 250', 'EHLO must be the last of a group'),
    ],
  },
  {
    name: 'a group that goes on after the message',
    steps: [...TRANSACTION, step(`x\r\n.\r\n${MAIL.send}\r\n${RCPT.send}`, '250 250 250')],
    messages: ['x\r\n'],
  },
];
