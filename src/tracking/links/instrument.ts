/** Puts the tracked links and the pixel of an email into its HTML. No other byte changes. */
import type { TrackingTokens } from '../../links/tracking-token.ts';
import { renderParsed } from '../../templates/render.ts';
import type { ParsedTemplate, Placeholder } from '../../templates/tags.ts';

/** First parts of the paths of tracked links and of the pixel. */
export const CLICK_PATH = '/c';
export const OPEN_PATH = '/o';

/** How an HTML text is tracked, in positions that count UTF-16 units of the text with its placeholders. */
export type Tracking = {
  /** Origin of the links, such as `https://track.mx.example.com`. */
  origin: string;
  /** Position of the pixel. Absent when opens are not tracked. */
  pixelAt?: number;
  /** Start and end of each tracked link. The number of a link is its index. */
  links: readonly (readonly [from: number, to: number])[];
};

const TOKEN_CHARACTERS = 48;
/** Length of the element of the pixel without its address. */
const PIXEL_CHARACTERS = 40;

/** The tracking of one email. */
export type Tracked = { tracking: Tracking; tokens: TrackingTokens };

/** Names of the placeholders of the pixel and the links. No placeholder of a template can have such a name. */
const PIXEL = '<pixel>';
const linkName = (index: number) => `<link ${index}>`;

/** Returns a template in which the pixel and the tracked links are placeholders too. */
export function withTracking(
  { source, placeholders, blocks }: ParsedTemplate,
  { pixelAt, links }: Tracking,
): ParsedTemplate {
  const raw = { fallback: undefined, isRaw: true };
  const added = links.map(([from, to], index) => ({ ...raw, name: linkName(index), from, to }));
  if (pixelAt !== undefined) added.push({ ...raw, name: PIXEL, from: pixelAt, to: pixelAt });
  // A link is replaced as a whole, with the placeholders in it.
  const kept: Placeholder[] = [];
  let next = 0;
  for (const placeholder of placeholders) {
    while ((links[next]?.[1] ?? Number.POSITIVE_INFINITY) <= placeholder.from) next++;
    if (placeholder.from < (links[next]?.[0] ?? Number.POSITIVE_INFINITY)) kept.push(placeholder);
  }
  const all = [...kept, ...added].toSorted((a, b) => a.from - b.from || a.to - b.to);
  return { source, placeholders: all, ...(blocks && { blocks }) };
}

/** Returns the values of these placeholders for one email. */
export function trackingValues({
  tracking: { origin, pixelAt, links },
  tokens,
}: Tracked): Record<string, string> {
  const values: Record<string, string> = {};
  for (const index of links.keys()) values[linkName(index)] = `${origin}${CLICK_PATH}/${tokens.click(index)}`;
  if (pixelAt !== undefined)
    values[PIXEL] = `<img src="${origin}${OPEN_PATH}/${tokens.open()}" width="1" height="1" alt="">`;
  return values;
}

/** Returns HTML without placeholders with the pixel and the tracked links of one email. */
export function instrument(html: string, tracked: Tracked): string {
  const template = withTracking({ source: html, placeholders: [] }, tracked.tracking);
  return renderParsed(template, trackingValues(tracked), { form: 'html', isMarketing: false }).text;
}

/** Returns a number of characters by which an HTML text grows at most. */
export function maxGrowth({ origin, links }: Tracking): number {
  const address = origin.length + CLICK_PATH.length + 1 + TOKEN_CHARACTERS;
  return (links.length + 1) * address + PIXEL_CHARACTERS;
}
