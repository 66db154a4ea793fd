/** The test `mailboxidexists` and the tag `:mailboxid` (RFC 9042). */
import type { Extension } from '../compile/definition.ts';
import { MAILBOX_CHOICE } from './mailbox-name.ts';

export const MAILBOXID: Extension = {
  name: 'mailboxid',
  tests: [
    {
      name: 'mailboxidexists',
      parameters: [{ name: 'ids', type: 'texts' }],
      compile(call) {
        const ids = call.texts('ids');
        return (run) => run.folders.haveIds(ids.read(run));
      },
    },
  ],
  tags: [
    {
      on: ['fileinto', 'vacation', 'notify'],
      tags: [
        {
          name: ':mailboxid',
          value: 'text',
          group: MAILBOX_CHOICE,
          modify(call) {
            const id = call.text(':mailboxid');
            return (options, run) => {
              options.mailboxId = id.read(run);
            };
          },
        },
      ],
    },
  ],
};
