/** Checks that no background work has failed for good, which is a bug. */
import { countTasks } from '../../tasks/read-store.ts';
import { type Check, findingsOf } from '../check.ts';

const { ok, warn } = findingsOf('background-work');

export const backgroundWork: Check = {
  name: 'background-work',
  async run({ db }) {
    const failed = (await db.query(countTasks, undefined)).filter((load) => load.failed > 0);
    if (failed.length === 0) return [ok('tasks', 'none has failed')];
    const advice = 'look at "postrider task list", and report the bug';
    return failed.map(({ kind, failed: count }) => warn(kind, `${count} tasks have failed`, advice));
  },
};
