/**
 * Elements, CSS and kinds of images that widespread mail programs do not show. Each row names those among Gmail, Outlook for Windows,
 * Outlook.com and Yahoo that lack it, as the tests of caniemail.com have found; `page` is the feature there.
 */
import type { Particular } from './findings.ts';

const CLIENTS = {
  gmail: 'Gmail',
  outlook: 'Outlook for Windows',
  outlookCom: 'Outlook.com',
  yahoo: 'Yahoo',
} as const;
type Client = keyof typeof CLIENTS;

const EVERYWHERE: readonly Client[] = ['gmail', 'outlook', 'outlookCom', 'yahoo'];
const WEBMAIL: readonly Client[] = ['gmail', 'outlookCom', 'yahoo'];
const MOST: readonly Client[] = ['gmail', 'outlook', 'yahoo'];

/** Returns the finding of a feature that these programs lack. */
function lacking(what: string, page: string | null, clients: readonly Client[]): Particular {
  const names = clients.map((client) => CLIENTS[client]).join(', ');
  const source = page && `https://www.caniemail.com/features/${page}/`;
  return { message: `${what} is not supported by ${names}`, source };
}

const SCRIPT: Particular = { message: 'Scripts are removed by every mail program', source: null };
const FRAME: Particular = { message: 'Frames are removed by almost every mail program', source: null };
const OBJECT = lacking('An embedded object', 'html-object', EVERYWHERE);

export const SCRIPT_FEATURE = SCRIPT;
export const STYLE_IN_BODY = lacking('`style` in the body', 'html-style', ['gmail', 'outlook']);
export const STYLESHEET_LINK = lacking('`link` to a style sheet', 'html-link', WEBMAIL);

export const ELEMENTS: ReadonlyMap<string, Particular> = new Map([
  ['script', SCRIPT],
  ['iframe', FRAME],
  ['frame', FRAME],
  ['frameset', FRAME],
  ['object', OBJECT],
  ['embed', OBJECT],
  ['applet', OBJECT],
  ['form', lacking('`form`', 'html-form', ['outlook'])],
  ['svg', lacking('`svg`', 'html-svg', EVERYWHERE)],
  ['video', lacking('`video`', 'html-video', EVERYWHERE)],
  ['audio', lacking('`audio`', 'html-audio', EVERYWHERE)],
]);

/** A property, with a pattern of its values if only some of them are meant. */
type Property = { values?: RegExp; feature: Particular };

export const PROPERTIES: ReadonlyMap<string, readonly Property[]> = new Map([
  [
    'display',
    [
      {
        values: /\b(?:inline-)?flex\b/i,
        feature: lacking('`display: flex`', 'css-display-flex', ['outlook']),
      },
      { values: /\b(?:inline-)?grid\b/i, feature: lacking('`display: grid`', 'css-display-grid', MOST) },
    ],
  ],
  [
    'position',
    [
      {
        values: /\b(?:relative|absolute|fixed|sticky)\b/i,
        feature: lacking('`position`', 'css-position', ['gmail', 'outlook']),
      },
    ],
  ],
  ['transform', [{ feature: lacking('`transform`', 'css-transform', EVERYWHERE) }]],
  ['animation', [{ feature: lacking('`animation`', 'css-animation', EVERYWHERE) }]],
  ['box-shadow', [{ feature: lacking('`box-shadow`', 'css-box-shadow', MOST) }]],
  ['background-image', [{ feature: lacking('`background-image`', 'css-background-image', ['outlook']) }]],
  [
    'background',
    [
      {
        values: /\burl\(/i,
        feature: lacking('`background-image`', 'css-background-image', ['outlook']),
      },
    ],
  ],
]);

/** The declaration of a custom property, whose name is the author's. */
export const CUSTOM_PROPERTY = lacking('A custom property (`--name`)', 'css-variables', EVERYWHERE);

export const AT_RULES: ReadonlyMap<string, Particular> = new Map([
  ['import', lacking('`@import`', 'css-at-import', WEBMAIL)],
  ['font-face', lacking('`@font-face`', 'css-at-font-face', WEBMAIL)],
  ['keyframes', lacking('`animation`', 'css-animation', EVERYWHERE)],
]);

/** Kinds of images by what their addresses match. */
export const IMAGES: readonly (readonly [pattern: RegExp, feature: Particular])[] = [
  [/^data:/i, lacking('An image in a `data:` address', 'image-base64', ['outlook'])],
  [/\.svg(?:[?#]|$)/i, lacking('An SVG image', 'image-svg', ['gmail', 'outlook'])],
  [/\.webp(?:[?#]|$)/i, lacking('A WebP image', 'image-webp', ['outlook'])],
];
