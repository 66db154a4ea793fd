/**
 * Keeps the list of names that certificates are ordered for: those that this installation serves, unless a certificate of the
 * configuration covers them. A name that is no longer served loses its certificate and its key.
 */
import type { App } from '../../app.ts';
import type { AcmeCertificateRow } from '../../db/own-tables.ts';
import { isBeingSetUp, SET_UP_MS } from '../../domains/set-up.ts';
import { listServedNames } from '../../host-names/served-names.ts';
import { periodic, type Work } from '../../system/worker.ts';
import { findSelfSigned } from '../self-signed.ts';
import { sealCertificateKey } from './certificate-key.ts';
import { changeNames, findCertificate, listKnownNames, renewNow } from './store.ts';

/** Time between two looks at the list of names, in milliseconds: a new tracking host is served after a minute or two. */
const PERIOD_MS = 60_000;
/** Maximum number of names, and of those of one tenant. Each certificate takes 14 KB of memory. */
const MAX_NAMES = 10_000;
const MAX_NAMES_PER_TENANT = 1_000;
/** Maximum number of names that one write changes, so that others wait only a short time. */
const MAX_NAMES_PER_WRITE = 50;

type UpkeepApp = App & {
  certificates: { isConfigured(name: string): boolean; listUnusable(): readonly string[] };
};
type Owned = Pick<AcmeCertificateRow, 'name' | 'tenantId'>;
type Wanted = Owned & { isVerified: boolean };

/** Returns the work. It does nothing while no authority is configured. */
export function createNameUpkeep(app: UpkeepApp): Work<'run'> {
  return periodic(app.clock, {
    name: 'certificate names',
    periodMs: PERIOD_MS,
    async run() {
      if (app.config.acme.directory === '') return;
      await updateNames(app);
      await orderUnusable(app);
    },
  });
}

/** Brings the list of names up to date. */
export async function updateNames(app: UpkeepApp): Promise<void> {
  const { directory } = app.config.acme;
  const wanted = new Map((await listWanted(app)).map((one) => [one.name, one]));
  const known = await listKnownNames(app.db.read);
  const kept = known.filter(({ name, tenantId }) => wanted.get(name)?.tenantId === tenantId);
  const keptNames = new Set(kept.map(({ name }) => name));
  const removed = known.flatMap(({ name }) => (keptNames.has(name) ? [] : [name]));
  const moved = kept.filter((one) => one.directory !== directory).map((one) => ({ ...one, directory }));
  const missing = [...wanted.values()].filter(({ name, isVerified }) => isVerified && !keptNames.has(name));
  const added = withinLimits(kept, missing);
  if (added.length < missing.length)
    app.log.warn(
      { names: missing.length - added.length },
      'there are more names than certificates are ordered for',
    );
  const now = app.clock.now();
  // Names change hands by being removed first: neither key nor certificate goes to the next tenant.
  for (const slice of slicesOf(removed))
    await app.db.commit(changeNames, { ...NO_CHANGES, removed: slice, now });
  for (const slice of slicesOf(moved)) await app.db.commit(changeNames, { ...NO_CHANGES, moved: slice, now });
  // A set-up asks for the names of the operator once their records are published.
  const waits = isBeingSetUp(app.config.dataDir, now);
  for (const slice of slicesOf(added)) {
    const rows = await Promise.all(
      slice.map(async ({ name, tenantId }) => ({
        name,
        tenantId,
        directory,
        privateKeySealed: await firstKey(app, { name, tenantId }),
        ...(waits && tenantId === null && { dueAt: now + SET_UP_MS }),
      })),
    );
    await app.db.commit(changeNames, { ...NO_CHANGES, added: rows, now });
  }
}

/** Makes the orders due of names whose stored certificate cannot be used, such as those whose key is damaged. */
export async function orderUnusable({ db, clock, certificates }: UpkeepApp): Promise<void> {
  for (const name of certificates.listUnusable()) {
    const row = await findCertificate(db.read, name);
    const now = clock.now();
    // An attempt that is due or has failed already goes on as it is planned.
    if (!row || row.failures > 0 || row.renewAt === null || row.renewAt <= now) continue;
    await db.commit(renewNow, { name, nextKeySealed: null, now });
  }
}

/** Returns the names that may be added to those that are kept, in their order. */
function withinLimits(kept: readonly Owned[], missing: readonly Owned[]): Owned[] {
  const counts = new Map<string | null, number>();
  const count = ({ tenantId }: Owned): number => {
    const next = (counts.get(tenantId) ?? 0) + 1;
    counts.set(tenantId, next);
    return next;
  };
  for (const one of kept) count(one);
  const allowed = missing.filter((one) => one.tenantId === null || count(one) <= MAX_NAMES_PER_TENANT);
  return allowed.slice(0, Math.max(0, MAX_NAMES - kept.length));
}

const NO_CHANGES = { added: [], removed: [], moved: [] };

/**
 * Returns the names that are served with TLS: the hostname alone, for mail, where a proxy of the operator has the ports of HTTPS. Those whose domain is not verified at present keep what they have, and get nothing new.
 */
async function listWanted({ config, db, clock, certificates }: UpkeepApp): Promise<Wanted[]> {
  const { hostname, http, https, links } = config;
  const served = await db.query(listServedNames, { config: { hostname, http, links }, now: clock.now() });
  const names = https.enabled ? served : served.filter(({ name }) => name === hostname.toLowerCase());
  return names.filter(({ name }) => !certificates.isConfigured(name));
}

/** Returns the sealed key of a new name. The hostname goes on with its self-signed key, so that a TLSA record of it stays right. */
async function firstKey(app: UpkeepApp, one: Owned): Promise<string> {
  const isHostname = one.tenantId === null && one.name === app.config.hostname.toLowerCase();
  const own = isHostname ? findSelfSigned(app.config.dataDir) : [];
  return sealCertificateKey(
    app,
    one,
    own.find(({ certificate }) => certificate.keyType === 'ec')?.certificate.key,
  );
}

function* slicesOf<Item>(items: readonly Item[]): Iterable<readonly Item[]> {
  for (let start = 0; start < items.length; start += MAX_NAMES_PER_WRITE)
    yield items.slice(start, start + MAX_NAMES_PER_WRITE);
}
