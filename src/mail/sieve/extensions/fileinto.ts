/** The action `fileinto` (RFC 5228 section 4.1). */
import { compileOptions } from '../compile/action-options.ts';
import type { Extension } from '../compile/definition.ts';
import { targetOf } from '../run/action-list.ts';
import { isMailboxName } from './mailbox-name.ts';

export const FILEINTO: Extension = {
  name: 'fileinto',
  commands: [
    {
      name: 'fileinto',
      parameters: [{ name: 'mailbox', type: 'text' }],
      compile(call) {
        const optionsOf = compileOptions(call);
        const mailbox = call.checkedText('mailbox', isMailboxName, 'this is not the name of a mailbox');
        return (run) => {
          const options = optionsOf(run);
          const target = targetOf(mailbox.read(run), options, options.flags ?? run.flags);
          run.take({ kind: 'fileinto', ...run.origin(), ...target }, options);
          return undefined;
        };
      },
    },
  ],
};
