/**
 * Names of mailboxes in scripts, which are UTF-8 (RFC 5228 section 4.1). The action `fileinto` (RFC 5228 section 4.1).
 * The tag `:copy`, with which an action leaves the implicit keep (RFC 3894). The test `mailboxexists` and the tag
 * `:create` (RFC 5490 section 3). The test `mailboxidexists` and the tag `:mailboxid` (RFC 9042). The test
 * `specialuse_exists` and the tag `:specialuse` (RFC 8579).
 */
import { compileOptions, type Extension } from '../definition.ts';
import { targetOf } from '../run/action-list.ts';

/** Maximum length of a name. Our own limit, far above that of names which accounts accept. */
const MAX_NAME_CHARACTERS = 1_000;

const CONTROL = /\p{Cc}/u;

/** Returns true for a text that may be the name of a mailbox. The account decides whether it accepts the name. */
export function isMailboxName(text: string): boolean {
  return text !== '' && text.length <= MAX_NAME_CHARACTERS && !CONTROL.test(text);
}

/** Group of the tags that find a mailbox by something else than its name, only one of which may be used (RFC 9042 section 4.2). */
const MAILBOX_CHOICE = 'mailbox choice';

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

export const COPY: Extension = {
  name: 'copy',
  tags: [
    {
      on: ['fileinto', 'redirect'],
      tags: [
        {
          name: ':copy',
          modify: () => (options) => {
            options.leavesKeep = true;
          },
        },
      ],
    },
  ],
};

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
