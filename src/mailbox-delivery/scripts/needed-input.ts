/** Finds out what the scripts of a mailbox ask about while they run: the run is then repeated with the answers. */
import type { MailboxRow } from '../../db/mailbox-tables.ts';
import { type NamedScript, namedScript } from '../../mailboxes/scripts/named-script.ts';
import type { Needed, RunJob } from '../../mailboxes/scripts/script-job.ts';
import { findScript } from '../../mailboxes/scripts/store.ts';
import { hashCorrespondent } from '../../submission/limits/limits.ts';
import { compareCorrespondents } from '../../submission/limits/store.ts';
import type { DecidingApp } from './delivery.ts';

/** The job that was run, and what its run needed. */
type Repeated<Need = Needed> = { job: RunJob; needed: Need };

/**
 * Returns the job with what its run needed: all folders, all annotations of a mailbox, and each script with its body, so that no run is
 * repeated for the same kind of thing.
 * @throws AppError unavailable when the mailbox cannot be asked
 */
export async function withNeeded(
  app: DecidingApp,
  mailbox: MailboxRow,
  { job, needed }: Repeated,
): Promise<RunJob> {
  switch (needed.what) {
    case 'body':
      return { ...job, isWhole: true };
    case 'folders':
      return { ...job, folders: await app.mailboxDelivery.listTargets(mailbox.id) };
    case 'annotations': {
      const entries = await app.mailboxDelivery.readAnnotations(mailbox.id, needed.mailbox);
      return { ...job, annotations: [...job.annotations, { mailbox: needed.mailbox, entries }] };
    }
    case 'contacts':
      return await withContacts(app, mailbox, { job, needed });
    case 'scripts':
      return await withIncluded(app, mailbox, { job, needed });
  }
}

/** The address book of a mailbox has the addresses that it has written to: no other list of people is stored here. */
async function withContacts(
  app: DecidingApp,
  { id }: MailboxRow,
  { job, needed: { addresses } }: Repeated<{ addresses: readonly string[] }>,
): Promise<RunJob> {
  const hashes = addresses.map((address) => hashCorrespondent(app, id, address));
  const { unknown } = await compareCorrespondents(app.db.read, id, hashes);
  const answers = addresses.map((address, index) => ({
    address,
    isKnown: !unknown.includes(hashes[index] as string),
  }));
  return { ...job, contacts: [...job.contacts, ...answers] };
}

/** Location of the scripts of a mailbox, which is a part of the name of an included script. There are no scripts at the other one. */
const PERSONAL = 'personal/';

async function withIncluded(
  { db }: DecidingApp,
  { id: mailboxId }: MailboxRow,
  { job, needed: { names } }: Repeated<{ names: readonly string[] }>,
): Promise<RunJob> {
  const included: NamedScript[] = [...job.included];
  const missing = [...job.missing];
  for (const name of names) {
    const own = name.startsWith(PERSONAL) ? name.slice(PERSONAL.length) : undefined;
    const script = own === undefined ? undefined : await findScript(db.read, { mailboxId, name: own });
    if (script) included.push(namedScript(name, script.content));
    else missing.push(name);
  }
  return { ...job, included, missing };
}
