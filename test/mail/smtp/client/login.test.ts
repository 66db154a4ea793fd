/** Logins at a relay whose replies repeat what it was sent. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { SmtpConnection } from '../../../../src/mail/smtp/client/connection.ts';
import { SmtpError } from '../../../../src/mail/smtp/client/failure.ts';
import { logIn } from '../../../../src/mail/smtp/client/login.ts';
import { realClock } from '../../../../src/system/clock.ts';
import { closeAfterTests } from '../../../support/close-after.ts';
import { startCommandServer } from '../../../support/command-server.ts';
import { dialLoopback } from '../../../support/loopback.ts';

const closing = closeAfterTests();
const USER = 'postrider';
const PASSWORD = 'correct horse';

test('a server that answers with what it was sent keeps the password out of the reason', async () => {
  for (const answer of ['not a reply: ', '535 5.7.8 ', '334 ']) {
    const server = closing(
      await startCommandServer((line) =>
        line.startsWith('AUTH') ? `${answer}${line}` : '250-x\r\n250 AUTH PLAIN',
      ),
    );
    const socket = await dialLoopback({ address: '127.0.0.1', port: server.port, timeoutMs: 30_000 });
    const connection = new SmtpConnection(realClock, socket);
    connection.expect(1);
    await connection.read('banner', 30_000);
    const extensions = new Map([['AUTH', 'PLAIN']]);
    const login = { user: USER, password: PASSWORD };
    const secret = Buffer.from(`\0${USER}\0${PASSWORD}`).toString('base64');
    await assert.rejects(
      logIn(connection, login, { extensions, timeoutMs: 30_000 }),
      (error) => error instanceof SmtpError && !inspect(error.failure).includes(secret.slice(0, 8)),
    );
    connection.destroy();
  }
});
