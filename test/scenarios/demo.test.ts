import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { fakeTerminal } from '../support/fake-terminal.ts';

test('an email goes from the API to a server that finds it authentic, its answer to a route, and one that comes back is bounced', async () => {
  const terminal = fakeTerminal();
  assert.equal(await runProgram(['demo', '--once'], terminal), 0, terminal.output + terminal.errors);
  assert.match(terminal.output, /domain +shop\.test: 3 DNS records published, verified/);
  for (const event of ['email.queued', 'email.sent', 'email.delivered']) {
    assert.match(terminal.output, new RegExp(`^  ${event} +signature valid$`, 'm'));
  }
  assert.match(terminal.output, /^ {2}MAIL FROM +b\+\w+@bounce\.mail\.postrider\.test$/m);
  assert.match(terminal.output, /SPF pass, DKIM pass, DMARC pass/);
  assert.match(terminal.output, /^ {2}verdict +SPF pass, DMARC pass\n {2}subject +Re: Your order/m);
  assert.match(
    terminal.output,
    /^ {2}replyText +When does it arrive\?\n {2}emailId +em_\w{26}, which it answers$/m,
  );
  assert.match(terminal.output, /^ {2}post +signature valid$/m);
  assert.match(terminal.output, /nobody@inbox\.test\n[\s\S]*^ {2}email\.bounced +signature valid$/m);
  assert.match(terminal.output, /Every step succeeded\.\n$/);
});

test('stays up for more, until it is interrupted', async () => {
  const terminal = fakeTerminal();
  const print = terminal.print;
  terminal.print = (text) => {
    print(text);
    if (text.includes('curl ')) terminal.interrupt();
  };
  assert.equal(await runProgram(['demo'], terminal), 0, terminal.errors);
  assert.match(terminal.output, /curl http:\/\/127\.0\.0\.1:\d+\/v1\/emails/);
});
