/** Finds the links of a broadcast: those that are shown before it is sent, and those that are tracked. */
import { decodeHTMLAttribute } from 'entities/decode';
import type { App } from '../app.ts';
import type { BroadcastRow } from '../db/marketing-tables.ts';
import type { SenderDomain } from '../domains/sender.ts';
import { AppError } from '../system/errors.ts';
import { placeholdersOf, withoutPlaceholders } from '../tracking/links/choose.ts';
import { type TrackedHtml, trackHtml } from '../tracking/links/track.ts';

/**
 * Returns how the copies are tracked. A broadcast never starts without the tracking that its domain asks for.
 * @throws AppError unavailable when the links cannot be found at the moment
 */
export async function requireTracking(
  app: Pick<App, 'clock' | 'config' | 'linkFinder'>,
  tenantId: BroadcastRow['tenantId'],
  { html, settings }: { html: string; settings: SenderDomain['tracking'] },
): Promise<TrackedHtml> {
  const tracked = await trackHtml(app, tenantId, { html, settings, isTemplate: true });
  if (tracked) return tracked;
  throw notFoundAtTheMoment();
}

/** A web link of a broadcast. */
export type ShownLink = {
  /** Address as it is written, with its placeholders and without character references. */
  url: string;
  isTracked: boolean;
};

/**
 * Returns the web links of an HTML text in their order.
 * @throws AppError unavailable when the links cannot be found at the moment
 */
export async function listLinks(
  { linkFinder }: Pick<App, 'linkFinder'>,
  tenantId: BroadcastRow['tenantId'],
  { html, tracking }: { html: string } & Pick<TrackedHtml, 'tracking'>,
): Promise<ShownLink[]> {
  const found = await linkFinder.find(withoutPlaceholders(html, placeholdersOf(html, true)), tenantId);
  if (!found) throw notFoundAtTheMoment();
  const tracked = new Set(tracking?.links.map(([from]) => from));
  return found.links.map(({ from, to }) => ({
    url: decodeHTMLAttribute(html.slice(from, to)),
    isTracked: tracked.has(from),
  }));
}

function notFoundAtTheMoment(): AppError {
  return new AppError('unavailable', 'The links cannot be found at the moment', { retryAfterSeconds: 5 });
}
