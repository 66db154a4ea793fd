import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ServedUser, serveUser } from '../../../src/mail/access/serve-user.ts';
import { openWire } from '../../../src/mail/access/wire.ts';
import { nextSlice } from '../../../src/system/slices.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createHandovers } from '../../support/handovers.ts';
import { recordLog } from '../../support/record-log.ts';

const LISTENER = { onOctets() {}, onDrained() {}, onNote() {}, onEnded() {}, onClosed() {} };

test('the users of an account share one slice of a turn, and accounts alternate', async () => {
  const clock = createFakeClock(0);
  const { log } = recordLog();
  const { handOverTo } = createHandovers();
  const order: string[] = [];
  const users: ReturnType<typeof serveUser>[] = [];
  for (const owner of ['a', 'a', 'a', 'a', 'b'])
    handOverTo((stream) => {
      const context = { clock, log, owner, pause: () => undefined };
      const ending = { name: 'TEST', formatEnd: () => '' };
      const open = (octets: Parameters<typeof openWire>[1]): ServedUser => {
        const connection = { wire: openWire(clock, octets), isOpen: true };
        const serveCommand = async () => {
          for (let slice = 0; slice < 4; slice++) {
            await nextSlice();
            order.push(owner);
          }
          connection.isOpen = false;
        };
        return { connection, serveCommand };
      };
      users.push(serveUser(context, stream, { ...ending, open }));
    })
      .take(LISTENER)
      .note({ kind: 'begin', head: undefined });
  await Promise.all(users.map(({ done }) => done));
  assert.equal(order.join('').slice(0, 8).match(/b/g)?.length, 4, order.join(''));
});
