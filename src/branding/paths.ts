/** The addresses of what public pages load for a brand. Each has all of its content in its name, so that it never changes. */
import type { ColourPairs } from './colours.ts';

export const BRANDING_PATH = '/brand';

/** Returns the path of the stylesheet with these colours, such as `/brand/1f5fbf-ffffff-8ab4f8-000000.css`. */
export function stylesheetPath({ light, dark }: ColourPairs): string {
  const colours = [light.color, light.text, dark.color, dark.text].map((colour) => colour.slice(1));
  return `${BRANDING_PATH}/${colours.join('-')}.css`;
}

const STYLESHEET_FILE = /^([0-9a-f]{6})-([0-9a-f]{6})-([0-9a-f]{6})-([0-9a-f]{6})\.css$/;

/** Returns the colours in the name of a stylesheet, or undefined for another name. */
export function coloursOf(file: string): ColourPairs | undefined {
  const [, ...found] = STYLESHEET_FILE.exec(file) ?? [];
  const [color, text, darkColor, darkText] = found.map((hex) => `#${hex}`);
  if (color === undefined || text === undefined || darkColor === undefined || darkText === undefined)
    return undefined;
  return { light: { color, text }, dark: { color: darkColor, text: darkText } };
}

/** Returns the path of the logo with this hash. */
export function logoPath(hash: string): string {
  return `${BRANDING_PATH}/${hash}.png`;
}

const LOGO_FILE = /^([A-Za-z0-9_-]{43})\.png$/;

/** Returns the hash in the name of a logo, or undefined for another name. */
export function logoHashOf(file: string): string | undefined {
  return LOGO_FILE.exec(file)?.[1];
}
