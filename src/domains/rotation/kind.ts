/**
 * The looks for the keys of domains as a kind of task. A key that waits is asked for in DNS, and signs from the moment at which its record was
 * seen. A retired key goes once no mail that was signed with it waits. A restored installation does neither before it is released.
 */
import type { App } from '../../app.ts';
import { leaseOf, type TaskKind } from '../../tasks/kind.ts';
import { completeTask } from '../../tasks/store.ts';
import { evaluateDkim } from '../check.ts';
import { type Look, MIN_RETIRED_MS } from '../keys/states.ts';
import { DOMAIN_KEYS } from '../keys/task.ts';
import { dkimName, dkimTarget } from '../records.ts';
import { hasMailSignedWith } from '../spool-store.ts';
import { type Domain, findDomain, findDomainKeys, type KeyedDomain } from '../store.ts';
import { checkDomain } from '../verify.ts';
import { settleLook } from './writes.ts';

/** Maximum number of concurrent looks, each of a few questions. */
const CONCURRENCY = 4;
/** Delay after a look that could not be stored, in milliseconds. */
const RETRY_MS = 5 * 60_000;

/** Returns the kind. */
export function createDomainKeysKind(app: App): TaskKind {
  return {
    name: DOMAIN_KEYS,
    // Which key signs, and which is published, is seen by other hosts.
    leavesHost: true,
    concurrency: CONCURRENCY,
    backOff: () => RETRY_MS,
    async run(task) {
      const lease = leaseOf(task);
      const domain = await findDomainKeys(app.db.read, task.reference as Domain['id']);
      if (!domain) return app.db.commit(completeTask, lease);
      const look: Look = { seen: await findSeen(app, domain), unneeded: await findUnneeded(app, domain) };
      const end = await app.db.commit(settleLook, { lease, domainId: domain.id, look, now: app.clock.now() });
      if (end !== 'stale' && look.seen.length > 0) await reportSeen(app, domain, look);
      return end;
    },
  };
}

/** Returns the waiting keys that DNS has, behind the CNAME of the owner or in a TXT record of its own. */
async function findSeen({ dns, config }: App, domain: KeyedDomain): Promise<Look['seen']> {
  const waiting = domain.keys.filter(({ state }) => state === 'waiting');
  const seen = await Promise.all(
    waiting.map(async (key) => {
      const name = dkimName({ name: domain.name, selector: key.selector });
      const [alias, text] = await Promise.all([dns.fresh.cname(name), dns.fresh.txt(name)]);
      const target = dkimTarget(config, { id: domain.id, selector: key.selector });
      return evaluateDkim(alias, text, { target, key }).kind === 'verified' ? [key] : [];
    }),
  );
  return seen.flat().map(({ selector, publicKey }) => ({ selector, publicKey }));
}

/** Returns the selectors of retired keys that have been published for long enough and that no waiting mail was signed with. */
async function findUnneeded({ db, clock }: App, { id, tenantId, keys }: KeyedDomain): Promise<string[]> {
  const unneeded: string[] = [];
  for (const { selector, state, since } of keys) {
    if (state !== 'retired' || clock.now() < since + MIN_RETIRED_MS) continue;
    if (!(await db.query(hasMailSignedWith, { domainId: id, tenantId, selector }))) unneeded.push(selector);
  }
  return unneeded;
}

/** Writes to the log which keys sign now, and checks the domain, whose DKIM record may be another one. */
async function reportSeen(app: App, { id, tenantId, name }: KeyedDomain, { seen }: Look): Promise<void> {
  for (const { selector } of seen)
    app.log.info({ domainId: id, tenantId, name, selector }, 'a DKIM key was seen in DNS and signs');
  const domain = await findDomain(app.db.read, id);
  if (domain) await checkDomain(app, domain, { isAsked: false });
}
