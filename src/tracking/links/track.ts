/** Decides how the HTML of an email or a broadcast is tracked, once for all its readers. */
import type { App } from '../../app.ts';
import type { Config } from '../../config/config.ts';
import type { TrackedLinkRow } from '../../db/tracking-tables.ts';
import type { TrackingSettings } from '../../domains/sending-store.ts';
import { linksOrigin, pageHosts } from '../../links/origin.ts';
import { DAY_MS } from '../../system/clock.ts';
import { chooseLinks, placeholdersOf, withoutPlaceholders } from './choose.ts';
import type { Tracking } from './instrument.ts';

/** An HTML text of a tenant. */
type Tracked = {
  html: string | undefined;
  /** Settings of the sender's domain; null for the sandbox domain, whose mail is not tracked. */
  settings: TrackingSettings | null;
  /** True when the text has placeholders that are filled in for each reader. */
  isTemplate: boolean;
};

export type TrackedHtml = {
  /** The positions of links and pixel; undefined when nothing is tracked. */
  tracking: Tracking | undefined;
  /** Addresses of the tracked links, by their numbers. */
  targets: TrackedLinkRow['url'][];
};

export const UNTRACKED: TrackedHtml = { tracking: undefined, targets: [] };

/** Time for which a tracking host is used after it was found to be right, in milliseconds. */
const MAX_HOST_AGE_MS = DAY_MS;

/**
 * Returns how a text is tracked, or undefined when its links cannot be found: it is too large, or the machine too busy.
 */
export async function trackHtml(
  app: Pick<App, 'clock' | 'config' | 'linkFinder'>,
  tenantId: string,
  { html, settings, isTemplate }: Tracked,
): Promise<TrackedHtml | undefined> {
  if (html === undefined || !settings) return UNTRACKED;
  const { openTracking, clickTracking } = settings;
  if (openTracking === 0 && clickTracking === 0) return UNTRACKED;
  const placeholders = placeholdersOf(html, isTemplate);
  const found = await app.linkFinder.find(withoutPlaceholders(html, placeholders), tenantId);
  if (!found) return undefined;
  const origin = trackingOrigin(app.config, settings, app.clock.now());
  const ownHosts = new Set([...pageHosts(app.config), new URL(origin).hostname]);
  const links = clickTracking === 1 ? chooseLinks(found, { html, placeholders, ownHosts }) : [];
  if (links.length === 0 && openTracking === 0) return UNTRACKED;
  return {
    targets: links.map(({ target }) => target),
    tracking: {
      origin,
      ...(openTracking === 1 && { pixelAt: found.bodyEnd ?? html.length }),
      links: links.map(({ from, to }) => [from, to] as const),
    },
  };
}

/** Returns the origin of tracked links: the domain's own host while it was right in the last day, else ours. */
function trackingOrigin(
  config: Pick<Config, 'links' | 'hostname' | 'http'>,
  { trackingHost, trackingCheckedAt }: TrackingSettings,
  now: number,
): string {
  const isCurrent = trackingCheckedAt !== null && now - trackingCheckedAt < MAX_HOST_AGE_MS;
  return trackingHost !== null && isCurrent ? `https://${trackingHost}` : linksOrigin(config);
}
