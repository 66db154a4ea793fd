/** Checks that there is a backup, and that it is not old. */
import { backupFolder, listBackups } from '../../backups/format.ts';
import { DAY_MS, isoTime } from '../../system/clock.ts';
import { type Check, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('backup');

/** Maximum age of the newest backup, in days, for which all is well, and from which it fails. */
const MAX_DAYS = 2;
const MAX_DAYS_UNTIL_FAILURE = 7;

export const backup: Check = {
  name: 'backup',
  async run({ config, clock }) {
    const folder = backupFolder(config);
    const newest = (await listBackups(folder)).at(-1);
    const todo = 'run "postrider backup create", daily and by a timer, and copy it to another machine';
    if (newest === undefined) return [warn(folder, 'there is no backup', todo)];
    const { takenAt, damagedMailboxes } = newest.facts;
    const says = `the newest backup is of ${isoTime(takenAt)}`;
    const days = (clock.now() - takenAt) / DAY_MS;
    if (days >= MAX_DAYS_UNTIL_FAILURE) return [fail(folder, says, todo)];
    if (days >= MAX_DAYS) return [warn(folder, says, todo)];
    if (damagedMailboxes.length > 0) {
      const repair = 'run "postrider mailbox check" and "mailbox repair" for each of them';
      return [warn(folder, `${says}, and ${damagedMailboxes.length} mailboxes in it are damaged`, repair)];
    }
    return [ok(folder, says)];
  },
};
