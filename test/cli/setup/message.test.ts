import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ControlMethod } from '../../../src/cli/control-client.ts';
import type { Accounts } from '../../../src/cli/setup/accounts.ts';
import { sendMessage } from '../../../src/cli/setup/message.ts';

const accounts = { tenantId: 'ten_1', domain: { name: 'shop.example' } } as unknown as Accounts;

/** A daemon whose mail has arrived as soon as it was sent. */
const control = {
  async request<Answer>(method: ControlMethod, path: string): Promise<Answer> {
    const answer =
      method === 'POST'
        ? { id: 'em_1' }
        : path.startsWith('/emails?')
          ? { emails: [] }
          : {
              id: 'em_1',
              recipients: [{ status: 'delivered' }],
              attempts: [{ mx: 'mx.example', reply: '250 Ok' }],
            };
    return answer as Answer;
  },
};

test('a message that stays on this machine is a warning that says how to send one elsewhere', async () => {
  const [there] = await sendMessage({ control, accounts, to: 'me@receiver.example' });
  assert.deepEqual([there?.level, there?.says], ['ok', 'a message was accepted by mx.example (250 Ok)']);
  const [here] = await sendMessage({ control, accounts, to: 'you@Shop.example' });
  assert.equal(here?.level, 'warn');
  assert.match(here.says, /says nothing of receivers elsewhere$/);
  assert.match(here.advice, /--test-to/);
});
