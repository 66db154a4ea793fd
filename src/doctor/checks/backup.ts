/** Checks that there is a backup, that it is not old, and that it was copied off this host. */
import { backupFolder, listOwnBackups } from '../../backups/format.ts';
import { readLastCopy } from '../../backups/last-copy.ts';
import { DAY_MS, isoTime } from '../../system/clock.ts';
import { type Check, type CheckContext, type Finding, findingsOf } from '../check.ts';

const { ok, warn, fail } = findingsOf('backup');

/** Maximum age of the newest backup, in days, for which all is well, and from which it fails. */
const MAX_DAYS = 2;
const MAX_DAYS_UNTIL_FAILURE = 7;
/** Time beyond its limit after which a copy that has not ended was left by a daemon that was killed, in milliseconds. */
const COPY_MARGIN_MS = 60_000;

type Context = Pick<CheckContext, 'clock' | 'config'>;

export const backup: Check = {
  name: 'backup',
  isForProduction: true,
  run: async (context) => [await examineNewest(context), ...examineCopy(context)],
};

async function examineNewest({ config, clock }: Context): Promise<Finding> {
  const folder = backupFolder(config);
  const newest = (await listOwnBackups(config.dataDir, folder)).at(-1);
  const advice =
    'run "postrider backup create", set backup.time to have one made each day, and copy it to another machine';
  if (newest === undefined) return warn(folder, 'there is no backup', advice);
  const { takenAt, damagedMailboxes } = newest.facts;
  const says = `the newest backup is of ${isoTime(takenAt)}`;
  const days = (clock.now() - takenAt) / DAY_MS;
  if (days >= MAX_DAYS_UNTIL_FAILURE) return fail(folder, says, advice);
  if (days >= MAX_DAYS) return warn(folder, says, advice);
  if (damagedMailboxes.length > 0) {
    const repair = 'run "postrider mailbox check" and "mailbox repair" for each of them';
    return warn(folder, `${says}, and ${damagedMailboxes.length} mailboxes in it are damaged`, repair);
  }
  return ok(folder, says);
}

function examineCopy({ config, clock }: Context): Finding[] {
  const { command, commandMinutes } = config.backup;
  const [program = ''] = command;
  const copy = readLastCopy(config.dataDir);
  if (program === '' || copy === undefined) return [];
  const advice = 'see the log, and run "postrider backup create" once the program works (backup.command)';
  const { backup: name, startedAt, endedAt, failure } = copy;
  if (failure !== null) return [warn(program, `${name} was not copied off this host: ${failure}`, advice)];
  if (endedAt !== null) return [ok(program, `${name} was copied off this host`)];
  const says = `${name} is being copied off this host since ${isoTime(startedAt)}`;
  const isLate = clock.now() - startedAt > commandMinutes * 60_000 + COPY_MARGIN_MS;
  return [isLate ? warn(program, `the copy of ${name} has not ended`, advice) : ok(program, says)];
}
