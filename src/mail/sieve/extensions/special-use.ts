/** The test `specialuse_exists` and the tag `:specialuse` (RFC 8579). */
import type { Extension } from '../compile/definition.ts';
import { MAILBOX_CHOICE } from './mailbox-name.ts';

/** Matches a special-use attribute (RFC 6154 section 6). */
const SPECIAL_USE = /^\\[!#$&'+,\-./0-9:;<=>?@A-Z[^_`a-z|}~]{1,100}$/;

export const SPECIAL_USES: Extension = {
  name: 'special-use',
  tests: [
    {
      name: 'specialuse_exists',
      parameters: [
        { name: 'mailbox', type: 'text', isOptional: true },
        { name: 'special uses', type: 'texts' },
      ],
      compile(call) {
        const mailbox = call.has('mailbox') ? call.text('mailbox') : undefined;
        const uses = call.texts('special uses');
        return (run) => run.folders.haveUses(mailbox?.read(run), uses.read(run));
      },
    },
  ],
  tags: [
    {
      on: ['fileinto', 'vacation', 'notify'],
      tags: [
        {
          name: ':specialuse',
          value: 'text',
          group: MAILBOX_CHOICE,
          modify(call) {
            const use = call.checkedText(
              ':specialuse',
              (value) => SPECIAL_USE.test(value),
              '`:specialuse` needs an attribute such as "\\\\Junk"',
            );
            return (options, run) => {
              options.specialUse = use.read(run);
            };
          },
        },
      ],
    },
  ],
};
