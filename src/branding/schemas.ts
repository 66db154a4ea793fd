/** Schemas of the branding of a tenant. */
import { type Static, Type } from 'typebox';
import { PLAIN_TEXT } from '../http/json/plain-text.ts';
import { isoTime } from '../system/clock.ts';
import { contrastsOf } from './colours.ts';
import { logoPath } from './paths.ts';
import type { Branding } from './store.ts';

/** Maximum length of a name, which stays on a few lines of a small screen. */
const MAX_NAME_CHARACTERS = 100;

const orNull = (schema: ReturnType<typeof Type.String>, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }));
const colour = (description: string) => orNull(Type.String(), description);

export const brandingChangeSchema = Type.Object(
  {
    name: orNull(
      Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: PLAIN_TEXT }),
      'Name of the sender. At most 100 characters.',
    ),
    color: colour(
      'Colour of the buttons and of the heading, as `#rrggbb`. Its contrast to the text on it must be at least 4.5.',
    ),
    textColor: colour('Colour of the text on `color`; white when it is null.'),
    darkColor: colour(
      'Colour on pages that are dark because the reader prefers it; `color` when it is null.',
    ),
    darkTextColor: colour('Colour of the text on `darkColor`; `textColor` when it is null.'),
    logo: orNull(
      Type.String({ minLength: 1 }),
      'PNG, JPEG, GIF or still WebP image in base64, of at most 1 MiB and 4,000,000 pixels. It is written anew as PNG, without animation, ' +
        'within 480 × 160 pixels, and shown on white at half that size.',
    ),
  },
  { examples: [{ name: 'Corner Shop', color: '#1f5fbf', textColor: '#ffffff' }] },
);
export type BrandingBody = Static<typeof brandingChangeSchema>;

const textOrNull = Type.Union([Type.String(), Type.Null()]);

export const contrastSchema = Type.Union(
  [
    Type.Object({
      light: Type.Number({ description: 'Contrast of `textColor` on `color`.' }),
      dark: Type.Number({ description: 'Contrast of the text on pages that are dark.' }),
    }),
    Type.Null(),
  ],
  { description: 'Contrast of the colours to their text, from 1 to 21 (WCAG 2.2). Null without colours.' },
);

export const brandingSchema = Type.Object(
  {
    name: textOrNull,
    color: textOrNull,
    textColor: textOrNull,
    darkColor: textOrNull,
    darkTextColor: textOrNull,
    logo: Type.Union(
      [
        Type.Object({
          url: Type.String({ description: 'Address of the logo as PNG. Another logo has another address.' }),
          width: Type.Integer(),
          height: Type.Integer(),
        }),
        Type.Null(),
      ],
      { description: 'Null without a logo.' },
    ),
    contrast: contrastSchema,
    updatedAt: Type.Union([Type.String(), Type.Null()], { description: 'Null when nothing has been set.' }),
  },
  {
    title: 'Branding',
    examples: [
      {
        name: 'Corner Shop',
        color: '#1f5fbf',
        textColor: '#ffffff',
        darkColor: null,
        darkTextColor: null,
        logo: {
          url: 'https://track.mx.example.com/brand/mrb1gRmLi-L7pAkjUqF08HZcYbUhJcAiMkSGhD4h7t0.png',
          width: 240,
          height: 80,
        },
        contrast: { light: 6.09, dark: 6.09 },
        updatedAt: '2026-03-01T09:00:00.000Z',
      },
    ],
  },
);

/** Returns the branding as the API shows it. `origin` is that of the public pages. */
export function showBranding(branding: Branding, origin: string): Static<typeof brandingSchema> {
  const { logoHash, logoWidth, logoHeight, updatedAt, ...rest } = branding;
  const logo =
    logoHash === null || logoWidth === null || logoHeight === null
      ? null
      : { url: `${origin}${logoPath(logoHash)}`, width: logoWidth, height: logoHeight };
  const contrast = contrastsOf(branding);
  return { ...rest, logo, contrast, updatedAt: updatedAt === null ? null : isoTime(updatedAt) };
}
