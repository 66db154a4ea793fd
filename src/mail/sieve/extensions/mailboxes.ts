/**
 * Filing into mailboxes: the action `fileinto` (RFC 5228 section 4.1) with its tags `:copy` (RFC 3894), `:create` (RFC 5490 section 3),
 * `:mailboxid` (RFC 9042) and `:specialuse` (RFC 8579), and the tests whether mailboxes exist. Names are UTF-8.
 */
import { compileOptions, type Extension, optionTag, textOptionTag, textsTest } from '../definition.ts';
import { targetOf } from '../run/action-list.ts';

/** Maximum length of a name. It is far above that of names which accounts accept. */
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
        optionTag(':copy', (options) => {
          options.leavesKeep = true;
        }),
      ],
    },
  ],
};

/** Actions that file a message, or a copy of what they send. */
const FILING: readonly string[] = ['fileinto', 'vacation', 'notify'];

export const MAILBOX: Extension = {
  name: 'mailbox',
  tests: [textsTest('mailboxexists', 'mailbox names', (run, names) => run.folders.haveNames(names))],
  tags: [
    {
      on: FILING,
      tags: [
        optionTag(':create', (options) => {
          options.createsMailbox = true;
        }),
      ],
    },
  ],
};

export const MAILBOXID: Extension = {
  name: 'mailboxid',
  tests: [textsTest('mailboxidexists', 'ids', (run, ids) => run.folders.haveIds(ids))],
  tags: [
    {
      on: FILING,
      tags: [
        textOptionTag({ name: ':mailboxid', group: MAILBOX_CHOICE }, (options, id) => {
          options.mailboxId = id;
        }),
      ],
    },
  ],
};

/** Matches a special-use attribute (RFC 6154 section 6). */
const SPECIAL_USE = /^\\[!#$&'+,\-./0-9:;<=>?@A-Z[^_`a-z|}~]{1,100}$/;

const SPECIAL_USE_TAG = {
  name: ':specialuse',
  group: MAILBOX_CHOICE,
  isValid: (value: string) => SPECIAL_USE.test(value),
  problem: '`:specialuse` needs an attribute such as "\\\\Junk"',
};

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
      on: FILING,
      tags: [
        textOptionTag(SPECIAL_USE_TAG, (options, use) => {
          options.specialUse = use;
        }),
      ],
    },
  ],
};
