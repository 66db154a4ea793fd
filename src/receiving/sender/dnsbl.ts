/**
 * Asks blocklists in the DNS about a client (RFC 5782). Nothing that goes wrong with a list ever refuses mail: a list that does
 * not answer in time, answers with an error, or lists everybody counts as a list without the client.
 */
import type { BlockList } from 'node:net';
import { blockList } from '../../system/blocklist.ts';
import { type Clock, withTimeout } from '../../system/clock.ts';
import { reverseLabels } from '../../system/dns/reverse-name.ts';
import type { DnsAnswer, DnsLookups } from '../../system/dns.ts';
import { cleanForeignText } from '../../system/foreign-text.ts';
import type { Log } from '../../system/log.ts';
import type { Metrics } from '../../system/metrics.ts';

/** A blocklist of the configuration (inbound.dnsbl). */
type Zone = {
  zone: string;
  action: 'refuse' | 'score';
  /** Address blocks of the answers that count. */
  answers: readonly string[];
};

/** A list that has the client. */
export type Listing = Pick<Zone, 'zone' | 'action'> & {
  /** Reason that the list publishes, in printable ASCII; empty when it has none. */
  text: string;
};

export type Blocklists = {
  /** Returns the lists that have the client, in the order of the configuration. It never rejects. */
  find(address: string): Promise<Listing[]>;
};

type BlocklistsApp = { dns: Pick<DnsLookups, 'a' | 'txt'>; clock: Clock; log: Log; metrics: Metrics };

/** Maximum time for which the answers of all lists are waited for, in milliseconds. */
export const LISTING_TIMEOUT_MS = 4_000;
/** Maximum time for which the reason of a listing is waited for after that, in milliseconds. */
export const REASON_TIMEOUT_MS = 2_000;
/** Maximum length of a reason. A line of a reply has at most 512 octets (RFC 5321 section 4.5.3.1.5). */
const MAX_REASON_CHARACTERS = 200;
/** Time for which the test of a list is valid, in milliseconds. */
const TEST_VALID_MS = 3_600_000;
/** Minimum time between two lines in the log about the errors of a list, in milliseconds. */
const WARNING_PERIOD_MS = 600_000;

/** Every answer that means something is in this block (RFC 5782 section 2.1). */
const ANSWERS = blockList(['127.0.0.0/8']);
/** Answers of some lists to resolvers that they refuse to serve. They say nothing about the client. */
const ERRORS = blockList(['127.255.255.0/24']);
/** Every working list has 127.0.0.2, and none has 127.0.0.1 or its form in IPv6, ::FFFF:7F00:1 (RFC 5782 section 5). */
const LISTED_POINT = '2.0.0.127';
const UNLISTED_POINTS = ['1.0.0.127', `1.0.0.0.0.0.f.7.f.f.f.f${'.0'.repeat(20)}`];

/** Returns the blocklists of the configuration. */
export function createBlocklists(app: BlocklistsApp, zones: readonly Zone[]): Blocklists {
  const lists = zones.map((zone) => createList(app, zone));
  return {
    async find(address) {
      const reversed = reverseLabels(address);
      if (reversed === undefined) return [];
      const found = await Promise.all(lists.map((list) => list.find(reversed.labels)));
      return found.flatMap((listing) => listing ?? []);
    },
  };
}

type List = { find(labels: string): Promise<Listing | undefined> };

function createList({ dns, clock, log, metrics }: BlocklistsApp, { zone, action, answers }: Zone): List {
  const counted = blockList(answers);
  const results = metrics.counter('inbound_dnsbl_total', 'Clients that blocklists were asked about.', [
    'zone',
    'result',
  ]);
  let warnedAt = Number.NEGATIVE_INFINITY;
  const warn = (reason: string): void => {
    if (clock.elapsed() < warnedAt + WARNING_PERIOD_MS) return;
    warnedAt = clock.elapsed();
    log.warn({ zone, reason }, 'a blocklist cannot be used');
  };
  const isUsable = createTest({ dns, clock, warn }, zone);

  async function lookUp(labels: string): Promise<'listed' | 'clear' | 'failed'> {
    const [answer, usable] = await Promise.all([dns.a(`${labels}.${zone}`), isUsable()]);
    if (isWithin(answer, ERRORS)) {
      warn('it answers with an error, which often means that it does not serve the resolver');
      return 'failed';
    }
    if (answer.kind === 'failed' || !usable) return 'failed';
    return isWithin(answer, ANSWERS) && isWithin(answer, counted) ? 'listed' : 'clear';
  }

  return {
    async find(labels) {
      const limit = { timeoutMs: LISTING_TIMEOUT_MS, what: zone };
      const result = await withTimeout(clock, lookUp(labels), limit).catch(() => 'failed' as const);
      results.inc({ zone, result });
      if (result !== 'listed') return undefined;
      const reason = withTimeout(clock, dns.txt(`${labels}.${zone}`), {
        ...limit,
        timeoutMs: REASON_TIMEOUT_MS,
      });
      return { zone, action, text: await reason.then(reasonOf, () => '') };
    },
  };
}

/**
 * Returns a function that tests whether a list can be used. Abandoned lists often begin to list everybody, so that their users
 * notice (RFC 5782 section 5 has test points for that). A list that lacks the point it should have is used, since it refuses
 * nobody.
 */
function createTest(
  { dns, clock, warn }: Pick<BlocklistsApp, 'dns' | 'clock'> & { warn: (reason: string) => void },
  zone: string,
): () => Promise<boolean> {
  let last: { usable: Promise<boolean>; until: number } | undefined;
  async function test(): Promise<boolean> {
    const isListed = async (labels: string) => isWithin(await dns.a(`${labels}.${zone}`), ANSWERS);
    const [hasPoint, ...unlisted] = await Promise.all([LISTED_POINT, ...UNLISTED_POINTS].map(isListed));
    const usable = !unlisted.includes(true);
    if (!usable) warn('it lists 127.0.0.1, which no working list has');
    else if (!hasPoint) warn('it does not list 127.0.0.2, as every working list does');
    return usable;
  }
  return () => {
    if (last === undefined || clock.elapsed() >= last.until)
      last = { usable: test(), until: clock.elapsed() + TEST_VALID_MS };
    return last.usable;
  };
}

function isWithin(answer: DnsAnswer<string>, block: BlockList): boolean {
  return answer.kind === 'found' && answer.records.some((address) => block.check(address, 'ipv4'));
}

/** The text stands in a reply, whose characters are printable ASCII (RFC 5321 section 4.2). */
function reasonOf(answer: DnsAnswer<string>): string {
  const [text = ''] = answer.kind === 'found' ? answer.records : [];
  return cleanForeignText(text, MAX_REASON_CHARACTERS).replace(/[^ -~]/g, '?');
}
