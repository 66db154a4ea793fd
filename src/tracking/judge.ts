/**
 * Judges whether a person or a machine made a request for the pixel or a link. Security gateways open mail and follow its
 * links, and mail apps load images ahead of their readers. Such requests are reported, but not counted as a person's.
 */
import { isbot } from 'isbot';
import type { DueEngagement, EmailFacts } from './judgement/store.ts';
import type { ScannerNetworks } from './scanner-networks.ts';

/** Reasons for the verdict that a machine made the request. The first that applies is reported. */
export const MACHINE_REASONS = [
  'head',
  'prefetch',
  'many_links',
  'too_soon',
  'scanner_network',
  'privacy_proxy',
  'user_agent',
] as const;
export type MachineReason = (typeof MACHINE_REASONS)[number];

/** A person does not follow this many different links of an email within this time. */
const BURST_LINKS = 3;
export const BURST_MS = 10_000;
/** A person does not open an email sooner than this after the receiving server has accepted it. */
const SOON_MS = 5_000;

/**
 * Programs that load images for people who read mail, although `isbot` calls them bots: the image proxies of Gmail and
 * Yahoo, and mail apps with a user agent of their own.
 */
const READS_FOR_PEOPLE =
  /GoogleImageProxy|via ggpht\.com|YahooMailProxy|^Outlook-(?:iOS|Android)\b|^MacOutlook\b|\bThunderbird\b/i;

/**
 * The whole user agent of Apple's Mail Privacy Protection. It loads the images of every message that arrives, whether
 * or not somebody reads it (https://wordtothewise.com/2021/09/apple-mpp).
 */
const APPLE_PRIVACY_PROXY = 'Mozilla/5.0';

/** Clicks of one email that are too many for a person: a time of at most BURST_MS with its clients. */
type Burst = { from: number; to: number; ips: ReadonlySet<string | null> };

/** Facts about an email, with the bursts among its clicks. */
export type JudgedFacts = EmailFacts & { bursts: readonly Burst[] };

/** Returns the facts with the bursts among the clicks. It is done once for each email, whose clicks may be hundreds. */
export function withBursts(facts: EmailFacts): JudgedFacts {
  const { clicks } = facts;
  const bursts = clicks.flatMap(({ at: from }, index): Burst[] => {
    const end = clicks.findIndex(({ at }) => at > from + BURST_MS);
    const near = clicks.slice(index, end === -1 ? undefined : end);
    if (new Set(near.map(({ link }) => link)).size < BURST_LINKS) return [];
    return [{ from, to: near.at(-1)?.at ?? from, ips: new Set(near.map(({ ip }) => ip)) }];
  });
  return { ...facts, bursts };
}

/** Returns why a machine made the request, or null for a person. */
export function judge(
  engagement: DueEngagement,
  facts: JudgedFacts,
  networks: ScannerNetworks,
): MachineReason | null {
  const { kind, ip, userAgent } = engagement;
  if (engagement.isHead === 1) return 'head';
  if (engagement.isPrefetch === 1) return 'prefetch';
  if (isInBurst(engagement, facts)) return 'many_links';
  if (isTooSoon(engagement, facts)) return 'too_soon';
  if (networks.includes(ip, kind)) return 'scanner_network';
  if (kind === 'open' && userAgent === APPLE_PRIVACY_PROXY) return 'privacy_proxy';
  return isBotName(kind, userAgent) ? 'user_agent' : null;
}

/** Returns true for a click of a burst, and for an open by one of its clients at the same time. */
function isInBurst({ kind, at, ip }: DueEngagement, { bursts }: JudgedFacts): boolean {
  return bursts.some(({ from, to, ips }) => at >= from && at <= to && (kind === 'click' || ips.has(ip)));
}

/**
 * Returns true when a server was being shown the email, or had accepted it only just before: a content filter reads it
 * then, and no person can.
 */
function isTooSoon({ at }: DueEngagement, { attempts, isInFlight }: EmailFacts): boolean {
  return (
    isInFlight ||
    attempts.some((attempt) => at >= attempt.at - attempt.durationMs && at < attempt.at + SOON_MS)
  );
}

function isBotName(kind: DueEngagement['kind'], userAgent: string | null): boolean {
  // A mail app may load images without a name, but a browser that follows a link always has one.
  if (userAgent === null) return kind === 'click';
  if (kind === 'open' && READS_FOR_PEOPLE.test(userAgent)) return false;
  return isbot(userAgent);
}
