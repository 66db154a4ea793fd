import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { SMTPServer } from 'smtp-server';
import { readBody } from '../../../support/memory-smtp-session.ts';
import { createClient, startServer } from './fixture.ts';
import { SCRIPTS, type Script } from './scripts.ts';

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

/** Starts the other server, with its replies as fast as they can be. */
async function startOther(t: TestContext) {
  const messages: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ['AUTH', 'STARTTLS'],
    logger: false,
    size: 40 * 1024 * 1024,
    onRcptTo: ({ address }, _session, callback) =>
      callback(isNobody(address) ? Object.assign(new Error('No such user'), { responseCode: 550 }) : null),
    onData(stream, _session, callback) {
      readBody(stream).then((content) => {
        messages.push(content.toString());
        callback(null, 'Kept');
      }, callback);
    },
  });
  server.on('error', () => {});
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => new Promise<void>((done) => server.close(() => done())));
  return { port: (listener.address() as AddressInfo).port, messages };
}

test('every script runs as it says, and smtp-server differs only where it is told', async (t) => {
  const other = await startOther(t);
  const { port, sessions } = await startServer(t, {
    hooks: {
      rcpt: async ({ address }) =>
        isNobody(address) ? { code: 550, status: '5.1.1', text: 'No such user' } : undefined,
    },
  });
  await Promise.all(
    SCRIPTS.map(async (script) => {
      const ours = script.steps.map(({ codes }) => codes);
      const theirs = script.steps.map(({ codes, other: different }) => different?.codes ?? codes);
      for (const { codes, other: different } of script.steps) {
        assert.notEqual(codes, different?.codes, `${script.name}: the difference is none`);
        assert.notEqual(different?.because, '', `${script.name}: the difference has no reason`);
      }
      const [first, second] = await Promise.all([run(port, script, ours), run(other.port, script, theirs)]);
      assert.deepEqual(first, ours, `${script.name}: this server`);
      assert.deepEqual(second, theirs, `${script.name}: smtp-server`);
    }),
  );
  const contents = SCRIPTS.flatMap(({ messages = [] }) => messages);
  const otherContents = SCRIPTS.flatMap(
    ({ messages = [], other: different }) => different?.messages ?? messages,
  );
  assert.deepEqual(sessions.messages.map(({ content }) => content.toString()).sort(), contents.sort());
  assert.deepEqual(other.messages.sort(), otherContents.sort());
  assert.equal(sessions.openSessions(), 0);
});
