/** The options by which commands select mail of the queue. */
import type { Command } from 'commander';

/** Adds the options that select mail to a command. Mail must meet all that are given. */
export function addCriteria(command: Command): Command {
  return command
    .option('--domain <domain>', 'mail for recipients of this domain')
    .option('--site <site>', 'mail for this site: a host name that mail for a domain goes to')
    .option('--tenant <tenant>', 'mail of this tenant (id or name)')
    .option('--kind <kind>', 'transactional or broadcast mail')
    .option('--class <class>', 'mail whose last reply has this class, such as greylist, rate or quota');
}
