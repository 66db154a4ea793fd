/**
 * Checks that the large receivers take mail: that each has accepted something of what was tried within the last hour, and that no
 * back-off rule keeps its mail. Other sites are not looked at, because some of them are always out of order.
 */
import { findProvider, packagedProviders } from '../../providers/table.ts';
import { providerOfPlace, type Restriction } from '../../queue/shaping/restriction.ts';
import { listRestrictions } from '../../queue/shaping/restrictions-store.ts';
import { isoTime } from '../../system/clock.ts';
import { type Check, type CheckContext, type Finding, findingsOf } from '../check.ts';
import { type AttemptsAtHost, countRecentAttempts } from '../store.ts';

const { ok, warn, fail } = findingsOf('receivers');

const HOUR_MS = 3_600_000;
/** Minimum number of attempts that were refused, and the age of the first of them, from which a receiver takes no mail. */
const MIN_REFUSED = 20;
const MIN_REFUSED_FOR_MS = 50 * 60_000;

type ReceiversContext = Pick<CheckContext, 'clock' | 'db'>;

export const receivers = {
  name: 'receivers',
  async run({ clock, db }: ReceiversContext) {
    const now = clock.now();
    const attempts = await db.query(countRecentAttempts, { since: now - HOUR_MS });
    const refusing = findRefusing(attempts, now);
    const kept = (await listRestrictions(db.read, now)).flatMap((one) => describeRestriction(one, refusing));
    const found = [...[...refusing].map(describeRefusing), ...kept];
    return found.length > 0
      ? found
      : [ok('receivers', 'the large receivers take mail, and no rule keeps it')];
  },
} satisfies Check;

type Refusing = ReadonlyMap<string, { refused: number; host: string }>;

/** Returns the providers that have accepted nothing of many attempts, with the host that was tried most often. */
function findRefusing(attempts: readonly AttemptsAtHost[], now: number): Refusing {
  const all = new Map<
    string,
    { accepted: number; refused: number; since: number; host: string; most: number }
  >();
  for (const { host, accepted, refused, firstAt } of attempts) {
    const provider = findProvider(packagedProviders(), host.toLowerCase());
    if (!provider) continue;
    const sum = all.get(provider.name) ?? { accepted: 0, refused: 0, since: now, host, most: 0 };
    const isMost = refused > sum.most;
    all.set(provider.name, {
      accepted: sum.accepted + accepted,
      refused: sum.refused + refused,
      since: Math.min(sum.since, firstAt),
      ...(isMost ? { host, most: refused } : { host: sum.host, most: sum.most }),
    });
  }
  const isRefusing = ({ accepted, refused, since }: { accepted: number; refused: number; since: number }) =>
    accepted === 0 && refused >= MIN_REFUSED && now - since >= MIN_REFUSED_FOR_MS;
  return new Map([...all].filter(([, sum]) => isRefusing(sum)));
}

function describeRefusing([provider, { refused, host }]: readonly [
  string,
  { refused: number; host: string },
]): Finding {
  const says = `it has accepted none of ${refused} attempts within the last hour`;
  return fail(provider, says, `look at "postrider queue site ${host}", and at what it says about senders`);
}

/** Says which rule keeps the mail of a provider. The refusal of everything says more. */
function describeRestriction(
  { place, tenantId, source, rule, lower, until }: Restriction,
  refusing: Refusing,
): Finding[] {
  const provider = providerOfPlace(place);
  if (provider === undefined || tenantId !== null || refusing.has(provider)) return [];
  const subject = source === null ? `${provider}: ${rule}` : `${provider} from ${source}: ${rule}`;
  const end = isoTime(until);
  const says = lower === null ? `its mail waits until ${end}` : `its mail is slowed down until ${end}`;
  return [
    warn(
      subject,
      says,
      `look at "postrider queue sites", which shows the reply, and lift it by "postrider queue site HOST --lift ${rule}" once its cause is gone`,
    ),
  ];
}
