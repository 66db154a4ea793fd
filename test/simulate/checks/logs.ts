/** The daemon logs no error, except that it could not store something while commits fail. */
import type { MakeCheck } from './check.ts';

/** Errors that a full disk explains. */
const ABOUT_STORAGE =
  /could not be (?:stored|claimed|put back|found|suspended)|work failed|could not be leased/;

export const checkLogs: MakeCheck = (_plan, fail) => {
  let hasFailed = false;
  return {
    observe(observation) {
      if (observation.kind === 'commit-failed') hasFailed = true;
      if (observation.kind !== 'logged' || observation.level === 'warn') return;
      if (hasFailed && ABOUT_STORAGE.test(observation.message)) return;
      fail(`the daemon logs: ${observation.message} ${observation.details}`);
    },
  };
};
