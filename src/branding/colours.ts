/** The colours of a brand, and how well their text can be read on them (WCAG 2.2, success criterion 1.4.3). */
import type { BrandingRow } from '../db/tenant-tables.ts';
import { invalid } from '../system/errors.ts';

type Colours = Pick<BrandingRow, 'color' | 'textColor' | 'darkColor' | 'darkTextColor'>;

/** A colour with that of the text on it, as `#rrggbb`. */
type Pair = { color: string; text: string };

/** The pairs of the light and of the dark page. */
export type ColourPairs = { light: Pair; dark: Pair };

/** Minimum contrast of text, by WCAG 2.2 for level AA. */
const MIN_CONTRAST = 4.5;
/** Text on a colour for which the sender names none. */
const WHITE = '#ffffff';
const HEX = /^#[0-9a-f]{6}$/i;

/**
 * Returns a colour in lower case.
 * @throws AppError validation_error naming the field
 */
export function readColour(field: keyof Colours, value: string | null): string | null {
  if (value !== null && !HEX.test(value)) throw invalid(field, `\`${field}\` must be written as #rrggbb`);
  return value === null ? null : value.toLowerCase();
}

/** Returns the pairs that the pages use, or undefined for a brand without colours. The dark page has the light colours unless it has its own. */
export function pairsOf({ color, textColor, darkColor, darkTextColor }: Colours): ColourPairs | undefined {
  if (color === null) return undefined;
  const light = { color, text: textColor ?? WHITE };
  const dark = { color: darkColor ?? color, text: darkTextColor ?? light.text };
  return { light, dark };
}

/**
 * Refuses colours on which text cannot be read.
 * @throws AppError validation_error naming the field, with the ratio
 */
export function requireContrast(colours: Colours): void {
  const pairs = pairsOf(colours);
  if (pairs) {
    requireReadable('color', pairs.light);
    requireReadable(colours.darkColor === null ? 'darkTextColor' : 'darkColor', pairs.dark);
    return;
  }
  for (const field of ['textColor', 'darkColor', 'darkTextColor'] as const)
    if (colours[field] !== null) throw invalid(field, `\`${field}\` needs \`color\``);
}

function requireReadable(field: string, { color, text }: Pair): void {
  if (contrastOf(color, text) >= MIN_CONTRAST) return;
  const shown = shownContrast({ color, text }).toFixed(2);
  throw invalid(
    field,
    `\`${field}\` makes text hard to read: the contrast between ${color} and its text ${text} is ${shown}, and must be at least ${MIN_CONTRAST}`,
  );
}

/** Returns the contrast of both pages, to two digits; null for a brand without colours. */
export function contrastsOf(colours: Colours): { light: number; dark: number } | null {
  const pairs = pairsOf(colours);
  return pairs ? { light: shownContrast(pairs.light), dark: shownContrast(pairs.dark) } : null;
}

/** Rounding down keeps a ratio just below the minimum from being shown as the minimum. */
function shownContrast({ color, text }: Pair): number {
  return Math.floor(contrastOf(color, text) * 100) / 100;
}

/** Returns the contrast ratio of two colours, from 1 to 21 (WCAG 2.2, definition of contrast ratio). */
export function contrastOf(one: string, other: string): number {
  const [lighter, darker] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

/** Returns the relative luminance of a colour in sRGB (WCAG 2.2, definition of relative luminance). */
function luminanceOf(hex: string): number {
  const channel = (from: number) => {
    const value = Number.parseInt(hex.slice(from, from + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}
