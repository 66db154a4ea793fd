/** The tag `:fcc`, which files a copy of what an action sends (RFC 8580). */
import type { Target } from '../actions.ts';
import type { Call, Extension } from '../compile/definition.ts';
import { type ActionOptions, targetOf } from '../run/action-list.ts';
import { isMailboxName } from './mailbox-name.ts';

export const FCC: Extension = {
  name: 'fcc',
  tags: [
    {
      on: ['vacation', 'notify'],
      tags: [
        {
          name: ':fcc',
          value: 'text',
          modify(call) {
            const mailbox = call.checkedText(':fcc', isMailboxName, '`:fcc` needs the name of a mailbox');
            return (options, run) => {
              options.fileCopyInto = mailbox.read(run);
            };
          },
        },
      ],
    },
  ],
};

/** Tags of `fileinto` that say how the copy is filed. */
const TARGET_TAGS: readonly string[] = [':flags', ':create', ':mailboxid', ':specialuse'];

/**
 * Checks that a call has `:fcc` when it says how the copy is filed.
 * @throws ScriptFault when it does not
 */
export function checkCopyTags(call: Call): void {
  const tag = TARGET_TAGS.find((name) => call.has(name));
  if (tag !== undefined && !call.has(':fcc')) throw call.fault(`\`${tag}\` needs \`:fcc\``, tag);
}

/** Returns where the copy is filed, if one is. */
export function copyTarget(options: ActionOptions): Target | undefined {
  const { fileCopyInto, flags = [] } = options;
  return fileCopyInto === undefined ? undefined : targetOf(fileCopyInto, options, flags);
}
