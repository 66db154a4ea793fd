/** The test `mailboxexists` and the tag `:create` (RFC 5490 section 3). */
import type { Extension } from '../compile/definition.ts';

export const MAILBOX: Extension = {
  name: 'mailbox',
  tests: [
    {
      name: 'mailboxexists',
      parameters: [{ name: 'mailbox names', type: 'texts' }],
      compile(call) {
        const names = call.texts('mailbox names');
        return (run) => run.folders.haveNames(names.read(run));
      },
    },
  ],
  tags: [
    {
      on: ['fileinto', 'vacation', 'notify'],
      tags: [
        {
          name: ':create',
          modify: () => (options) => {
            options.createsMailbox = true;
          },
        },
      ],
    },
  ],
};
