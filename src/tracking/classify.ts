/**
 * Classifies whether a person or a machine made a request for the pixel or a link. Security gateways open mail and follow its
 * links, and mail apps load images ahead of their readers. Such requests are reported, but not counted as a person's.
 */

import { type BlockList, isIP } from 'node:net';
import { isbot } from 'isbot';
import { readDataFile } from '../data-files.ts';
import type { EngagementRow } from '../db/tracking-tables.ts';
import { blockList } from '../system/blocklist.ts';
import type { DueEngagement, EmailFacts } from './classification/store.ts';

type Kind = EngagementRow['kind'];

/** One entry of the file. */
type NetworkEntry = { name: string; scope: string; cidrs: readonly string[] };

const FILE = 'scanner-networks.json';

type ScannerNetworks = {
  /** Returns true when the address belongs to a network whose scope is this kind. Other texts never do. */
  includes(address: string | null, kind: Kind): boolean;
};

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

/** Returns why a machine made the request, or null for a person. */
export function classify(
  engagement: DueEngagement,
  facts: EmailFacts,
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
function isInBurst({ kind, at, ip }: DueEngagement, { bursts }: EmailFacts): boolean {
  return bursts.some(({ from, to, ips }) => at >= from && at <= to && (kind === 'click' || ips.includes(ip)));
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

/**
 * Returns the networks of the file.
 * @throws Error naming the entry that has an unknown scope or a CIDR that cannot be parsed
 */
export function readScannerNetworks(entries: readonly NetworkEntry[] = entriesOfFile()): ScannerNetworks {
  const lists = { open: listOf(entries, 'open'), click: listOf(entries, 'click') };
  return {
    includes(address, kind) {
      const family = isIP(address ?? '');
      if (address === null || family === 0) return false;
      return lists[kind].check(address, family === 4 ? 'ipv4' : 'ipv6');
    },
  };
}

function entriesOfFile(): readonly NetworkEntry[] {
  return (readDataFile(FILE) as { networks: readonly NetworkEntry[] }).networks;
}

function listOf(entries: readonly NetworkEntry[], kind: Kind): BlockList {
  const unknown = entries.find(({ scope }) => !['open', 'click', 'both'].includes(scope));
  if (unknown)
    throw new Error(`the scanner network "${unknown.name}" has the unknown scope "${unknown.scope}"`);
  return blockList(
    entries.filter(({ scope }) => scope === kind || scope === 'both').flatMap(({ cidrs }) => cidrs),
  );
}
